//! The folder of the self-test, and the commands of this program that use it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_app::home;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;
use tempfile::TempDir;

/// The id of the proxy in the manifest.
pub const PROXY: &str = "tested";

/// The component that `build.rs` made.
pub const COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/component.wasm"));

/// The chain. The time is short, since one of the messages takes all of it.
const MANIFEST: &str = r#"[[proxy]]
id = "tested"
path = "component.wasm"
powers = ["prompts.read", "prompts.change", "tools"]

[proxy.limits]
time = "500 ms"
"#;

/// The beginning of the folder's name: short, since paths of sockets have to be.
const FOLDER: &str = "acp-test-";

/// The variables that name folders of the user's, with a folder of ours for each.
const FOLDERS: [(&str, &str); 6] = [
    ("XDG_RUNTIME_DIR", ""),
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "home/config"),
    ("XDG_DATA_HOME", "home/data"),
    ("XDG_STATE_HOME", "home/state"),
    ("XDG_CACHE_HOME", "home/cache"),
];

/// The files of the self-test. They are removed with it.
pub struct Stage {
    folder: TempDir,
    program: PathBuf,
}

impl Stage {
    pub fn set() -> Result<Self, String> {
        let program = std::env::current_exe()
            .map_err(|error| format!("this program cannot be found: {error}"))?;
        let made = tempfile::Builder::new().prefix(FOLDER).tempdir();
        let made = made.and_then(|folder| {
            let stage = Self { folder, program };
            stage.prepare().map(|()| stage)
        });
        made.map_err(|error| {
            let place = std::env::temp_dir();
            let place = Untrusted::new(place.display());
            format!(
                "a folder cannot be created in {place}: {error}; let TMPDIR name a folder that you can write to"
            )
        })
    }

    /// Makes the files, for this user only: otherwise the chain does not take them.
    fn prepare(&self) -> io::Result<()> {
        let folders = FOLDERS.map(|(_, folder)| folder);
        for folder in folders.into_iter().chain(["data", "project"]) {
            files::make_private(&self.path(folder))?;
        }
        for (name, content) in [
            ("component.wasm", COMPONENT),
            ("chain.toml", MANIFEST.as_bytes()),
            ("config.toml", &b""[..]),
        ] {
            files::append_private(&self.path(name))?.write_all(content)?;
        }
        Ok(())
    }

    /// Removes the files.
    pub fn clear(self) -> Result<(), String> {
        let path = self.folder.path().to_owned();
        let closed = self.folder.close();
        closed.map_err(|error| {
            let path = Untrusted::new(path.display());
            format!("{path} cannot be removed: {error}")
        })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The working directory of sessions.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// This program, with the environment of the self-test.
    pub fn command(&self) -> Command {
        let mut command = home::without_variables(&self.program);
        for (name, folder) in FOLDERS {
            command.env(name, self.path(folder));
        }
        command.current_dir(self.project());
        command
    }

    /// A part of the self-test, with a file or folder of its own.
    pub fn part(&self, name: &str, file: &str) -> Command {
        let mut command = self.command();
        command.arg("self-test-part").arg(name).arg(self.path(file));
        command
    }

    /// The chain, as an editor launches it.
    pub fn chain(&self) -> Command {
        let mut command = self.command();
        command.arg("run");
        for (option, file) in [
            ("--settings", "config.toml"),
            ("--data", "data"),
            ("--log-file", "chain.log"),
            ("--manifest", "chain.toml"),
        ] {
            command.arg(option).arg(self.path(file));
        }
        command
            .args(["--hooks", "off", "--"])
            .arg(&self.program)
            .args(["self-test-part", super::agent::AGENT])
            .arg(self.folder());
        command
    }

    /// The last warning or error in the log of the chains, to be said behind what does not hold.
    pub fn last_words(&self) -> String {
        let log = fs::read_to_string(self.path("chain.log")).unwrap_or_default();
        let mut lines = log.lines().rev();
        let last = lines.find(|line| line.contains(" ERROR ") || line.contains(" WARN "));
        last.map(|line| format!("; the log says: {line}"))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_has_the_proxy_and_its_component() {
        assert!(MANIFEST.contains(&format!("id = \"{PROXY}\"")));
        assert!(COMPONENT.starts_with(b"\0asm"));
    }

    #[test]
    fn the_folder_is_removed_with_all_that_is_in_it() {
        let stage = Stage::set().unwrap();
        let folder = stage.folder().to_owned();
        fs::write(stage.project().join("left"), "").unwrap();
        stage.clear().unwrap();
        assert!(!folder.exists());
    }
}
