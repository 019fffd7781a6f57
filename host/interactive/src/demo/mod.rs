//! Two turns through a real chain, which need no agent, no editor and no network.
//!
//! The editor and the agent play a script; between them is `acp-chain run`, as an editor launches it, with built-in
//! extensions. A scene has what the two ends received. All files are in a temporary folder, and nothing of the user's
//! is read or written, settings included.
//!
//! | file | what it is |
//! |---|---|
//! | `script` | the texts of both ends, and the chain |
//! | `agent` | the agent, a process of its own |
//! | `editor` | the editor: it launches the chain, takes the turns, and records what its user sees |
//! | `scenes` | what each proxy did, before and after |

mod agent;
mod editor;
mod scenes;
mod script;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_acp::{INITIALIZE, NEW, PROMPT};
use acp_chain_app::home;
use acp_chain_ends::client::{Services, new_session, prompt};
use acp_chain_rpc::untrusted::Untrusted;
use serde_json::Value;
use tempfile::TempDir;

pub use self::agent::play_agent;
use self::editor::{Editor, UserView};
pub use self::scenes::Scene;
use crate::{Error, Result};

/// The built-in extensions in the chain, the client's neighbour first.
pub const PROXIES: [&str; 3] = ["rules", "permissions", "redact"];

/// An error if this program has not all extensions of the chain.
fn check_extensions() -> Result<()> {
    let carried = home::carried()?;
    match PROXIES.iter().find(|name| carried.named(name).is_none()) {
        Some(missing) => Err(Error::Demo(format!(
            "this program was built without the extension `{missing}`, which the demo needs; `cargo xtask install` \
             builds one with it"
        ))),
        None => Ok(()),
    }
}

/// What was played.
pub struct DemoRun {
    /// What the user saw of each turn.
    turns: [UserView; 2],
    /// All lines that the client received.
    to_client: String,
    /// All lines that the agent received.
    to_agent: String,
    /// The trace of the chain.
    pub trace: String,
}

impl DemoRun {
    /// What each proxy did, in the order of the turns.
    pub fn scenes(&self) -> [Scene; 5] {
        scenes::all(self)
    }
}

/// The files of the demo. They are removed with it.
pub struct Stage {
    folder: TempDir,
    /// The working directory of the session.
    project: PathBuf,
}

impl Stage {
    /// Writes the files. Fails if this program has not all extensions of the chain.
    pub fn set() -> Result<Self> {
        check_extensions()?;
        let made = tempfile::Builder::new().prefix("acp-chain-demo-").tempdir();
        let folder = made.map_err(|error| {
            let place = std::env::temp_dir();
            Error::Demo(format!(
                "a folder cannot be created in {}: {error}; let TMPDIR name a folder that you can write to",
                Untrusted::new(place.display())
            ))
        })?;
        let project = folder.path().join("project");
        let stage = Self { folder, project };
        let prepared = stage.prepare();
        prepared.map_err(Error::io("the files of the demo cannot be written"))?;
        Ok(stage)
    }

    fn prepare(&self) -> std::io::Result<()> {
        fs::create_dir(&self.project)?;
        fs::create_dir(self.path("data"))?;
        fs::write(self.project.join("AGENTS.md"), script::RULES)?;
        fs::write(self.path("acp-chain.toml"), script::MANIFEST)?;
        fs::write(self.path("config.toml"), "")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Launches the chain as an editor does, takes the turns, and closes.
    pub fn play(&self) -> Result<DemoRun> {
        let unknown = "the editor of the demo does not support this method";
        let services = Services::new(Some(self.project.clone()), unknown);
        let initialize = services.initialize();
        let mut editor = Editor::launch(&mut self.command()?, services)?;
        let turns = self.turns(&mut editor, initialize);
        // Also after an error: the chain must have ended before its files are removed.
        let to_client = editor.close()?;
        Ok(DemoRun {
            turns: turns?,
            to_client,
            to_agent: read(&self.path("received.jsonl"))?,
            trace: read(&self.path("trace.jsonl"))?,
        })
    }

    fn turns(&self, editor: &mut Editor, initialize: Value) -> Result<[UserView; 2]> {
        editor.ask(INITIALIZE, initialize)?;
        let session = editor.ask(NEW, new_session(&self.project))?;
        let mut take = |text: &str| -> Result<UserView> {
            editor.ask(PROMPT, prompt(&session["sessionId"], text))?;
            Ok(editor.seen())
        };
        Ok([take(&script::prompt())?, take(script::CLEAN)?])
    }

    /// The command that an editor would launch, with settings, data and a log of its own.
    fn command(&self) -> Result<Command> {
        let program = std::env::current_exe().map_err(Error::io("this program cannot be found"))?;
        let mut command = home::without_variables(&program);
        // A running demo is not one of the user's chains.
        command.env("ACP_CHAIN_LIVE", "0");
        command.arg("run");
        for (option, file) in [
            ("--settings", "config.toml"),
            ("--data", "data"),
            ("--log-file", "acp-chain.log"),
            ("--manifest", "acp-chain.toml"),
            ("--trace", "trace.jsonl"),
        ] {
            command.arg(option).arg(self.path(file));
        }
        command
            .args(["--trace-bodies", "--hooks", "off", "--"])
            .arg(&program)
            .arg("demo-agent")
            .arg(self.path("received.jsonl"))
            .current_dir(&self.project);
        Ok(command)
    }
}

/// Reads a file that one of the ends has written.
fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Error::io(Untrusted::new(path.display()).to_string()))
}
