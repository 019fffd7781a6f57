//! The program with an attacker and a bystander in its chain, in front of an agent.
//!
//! The attacker stands next to the client. The bystander, next to the agent, sees everything and
//! forwards it. The input and the output of the agent are recorded.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::powers;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use hostile::{ATTACKED, Mode, NEIGHBOUR};
use tempfile::TempDir;

use crate::hostile::row::{Attacker, Policy, Row};

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A folder for one run: the manifest, and the recorded messages.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The host's log.
    pub fn log(&self) -> PathBuf {
        self.path("acp-chain.log")
    }

    /// The recorded input of the agent.
    pub fn read(&self) -> PathBuf {
        self.path("read")
    }

    /// The recorded output of the agent.
    pub fn written(&self) -> PathBuf {
        self.path("written")
    }

    /// Writes the manifest: the attacker, then the bystander.
    fn manifest(&self, row: &Row, policy: Policy) -> PathBuf {
        let guest = host::component("hostile");
        let (component, mode) = match row.by {
            Attacker::Guest(mode) => (guest.clone(), mode),
            Attacker::Module(module) => {
                let path = self.path("hostile.wasm");
                fs::write(&path, module.component()).expect("a component");
                (path, Mode::None)
            }
        };
        let attacker = |id: &str| {
            let (path, policy) = (component.display(), policy.as_str());
            let mode = serde_json::to_string(&mode).expect("a name");
            let (config, grant, limits) = (row.config, row.grant, row.limits);
            let granted = match grant {
                "" => powers::everything(),
                granted => granted,
            };
            format!(
                "[[proxy]]\nid = '{id}'\npath = '{path}'\non-failure = '{policy}'\n{granted}\n\
                 [proxy.config]\nmode = {mode}\n{config}\n[proxy.limits]\n{limits}\n\n"
            )
        };
        let mut text = attacker("hostile");
        if row.accomplice {
            text += &attacker("hostile-too");
        } else {
            let path = guest.display();
            let _ = write!(text, "[[proxy]]\nid = 'bystander'\npath = '{path}'\n");
        }
        let path = self.path("acp-chain.toml");
        fs::write(&path, text).expect("a manifest");
        path
    }

    /// The agent's command, with its input and output copied to files.
    fn agent(&self) -> [OsString; 6] {
        let shell = r#"tee "$0" | "$2" | tee "$1""#;
        let (read, written) = (self.read().into(), self.written().into());
        let [sh, c, shell, agent] = ["sh", "-c", shell, AGENT].map(OsString::from);
        [sh, c, shell, read, written, agent]
    }
}

/// The client of a running program, before `initialize`.
pub async fn start(folder: &Folder, row: &Row, policy: Policy) -> Process {
    let (manifest, log) = (folder.manifest(row, policy), folder.log());
    // Compiles everything before the measurements; some components fail to compile.
    let checked = host::check(&manifest).output().await;
    checked.expect("the program");
    let options: [&OsStr; 4] = [
        "--manifest".as_ref(),
        manifest.as_ref(),
        "--log-file".as_ref(),
        log.as_ref(),
    ];
    let mut command = host::run_with(options, folder.agent());
    // The values that proxies store are not those of the tests' user.
    command.env("XDG_DATA_HOME", folder.0.path());
    let mut client = Process::start("client", &Transcript::new(), command).expect("the program");
    client.wire = client.wire.answering(answers);
    client
}

/// What the client answers at once. It answers requests for `kept` files later, and the attacker's own
/// requests only if they are an echo.
fn answers(message: &Message) -> Vec<String> {
    let params = message.params.as_deref().unwrap_or_default();
    match message.method.as_deref() {
        Some("fs/read_text_file") if !params.contains("kept") => message.result(CONTENT),
        Some("session/request_permission") => {
            message.result(r#"{"outcome":{"outcome":"selected","optionId":"reject-once"}}"#)
        }
        Some("_hostile/echo") => message.result("{}"),
        _ => Vec::new(),
    }
}

const CONTENT: &str = r#"{"content":"the content"}"#;

/// A turn of the neighbour in which the agent waits for the client.
pub struct Turn {
    prompt: String,
    file: Message,
}

impl Turn {
    fn script(file: &str) -> String {
        let script =
            format!("echo first\nread {file}\nstream 20 chunk\npermission read Look /x\necho last");
        prompt(NEIGHBOUR, &script)
    }

    /// The texts that the client receives in a turn.
    pub fn texts() -> Vec<String> {
        let mut texts = vec!["first".to_owned(), "the content".to_owned()];
        texts.extend((0..20).map(|number| format!("chunk {number}")));
        texts.extend(["selected reject-once".to_owned(), "last".to_owned()]);
        texts
    }

    /// A whole turn.
    pub async fn whole(client: &mut Process) -> Message {
        let prompt = client.wire.ask("session/prompt", &Self::script("/file"));
        client.wire.response(&prompt).await
    }

    /// Begins a turn, and stops in the middle of it.
    pub async fn begin(client: &mut Process) -> Self {
        let prompt = client.wire.ask("session/prompt", &Self::script("/kept"));
        loop {
            let message = client.wire.receive().await.expect("a running turn");
            if message.method.as_deref() == Some("fs/read_text_file") {
                return Self {
                    prompt,
                    file: message,
                };
            }
        }
    }

    /// Continues the turn to its end.
    pub async fn end(self, client: &mut Process) -> Message {
        for line in self.file.result(CONTENT) {
            client.wire.send(line);
        }
        client.wire.response(&self.prompt).await
    }
}

/// The parameters of a prompt of the attacked session.
pub fn attacked(text: &str) -> String {
    prompt(ATTACKED, text)
}
