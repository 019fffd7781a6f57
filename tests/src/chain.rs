//! The program under test, with a manifest that the test writes and a log file.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use crate::envelope::Message;
use crate::host;
use crate::powers;
use crate::process::{Exit, Process};
use crate::transcript::Transcript;

/// The manifest's file name in a chain's folder.
pub const MANIFEST: &str = "acp-chain.toml";

/// The prefix of the host's notices to the user.
const NOTICE: &str = "\n\n**acp-chain**: ";

/// A running chain.
pub struct Chain {
    /// The client's end.
    pub client: Process,
    folder: TempDir,
}

/// A proxy's entry in the manifest; `terms` are further keys. The proxy gets the powers of
/// [`powers::in_one_process`], unless `terms` has `powers` or `methods`.
#[must_use]
pub fn entry(id: &str, component: &str, terms: &str) -> String {
    let path = host::component(component);
    let path = path.display();
    let names = |key| terms.lines().any(|line| line.trim_start().starts_with(key));
    let granted = if names("powers") || names("methods") {
        ""
    } else {
        powers::in_one_process()
    };
    format!("[[proxy]]\nid = {id:?}\npath = '{path}'\n{granted}{terms}\n")
}

/// A native proxy's entry in the manifest, from the words of its command line.
///
/// # Panics
/// If there are no words.
#[must_use]
pub fn program(id: &str, words: &[impl AsRef<str>]) -> String {
    let words: Vec<_> = words
        .iter()
        .map(|word| format!("'{}'", word.as_ref()))
        .collect();
    let (program, args) = words.split_first().expect("a command");
    let args = args.join(", ");
    format!("[[proxy]]\nid = {id:?}\ncommand = {program}\nargs = [{args}]\n")
}

/// A folder for the manifests of inner chains.
#[derive(Debug)]
pub struct ManifestFolder(TempDir);

impl ManifestFolder {
    /// An empty folder.
    ///
    /// # Panics
    /// If the folder cannot be created.
    #[must_use]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// The folder's path.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Writes this manifest, and returns the command line of a chain with it.
    ///
    /// # Panics
    /// If the manifest cannot be written.
    #[must_use]
    pub fn command(&self, name: &str, manifest: &str) -> [String; 4] {
        let path = self.folder().join(name).with_extension("toml");
        fs::write(&path, manifest).expect("the manifest is written");
        let (program, path) = (host::program(), path.display().to_string());
        let program = program.display().to_string();
        [program, "run".to_owned(), "--manifest".to_owned(), path]
    }

    /// Writes this manifest, and returns the entry for its chain in an outer manifest.
    #[must_use]
    pub fn chain(&self, name: &str, manifest: &str) -> String {
        program(name, &self.command(name, manifest))
    }
}

impl Default for ManifestFolder {
    fn default() -> Self {
        Self::new()
    }
}

impl Chain {
    /// Starts a chain with this manifest in front of an agent.
    ///
    /// # Panics
    /// If the chain cannot be started.
    #[must_use]
    pub fn start(manifest: &str, agent: &str) -> Self {
        Self::launch(manifest, |folder| logged(folder, &[agent]))
    }

    /// Like [`start`](Self::start), with the agent's whole command line, for a user who permits native proxies.
    ///
    /// # Panics
    /// If the chain cannot be started.
    #[must_use]
    pub fn granted(manifest: &str, agent: &[&str]) -> Self {
        Self::launch(manifest, |folder| {
            let mut command = logged(folder, agent);
            command.env("XDG_CONFIG_HOME", host::grants_native(folder));
            command
        })
    }

    /// Writes the manifest as [`MANIFEST`] into a new folder, and starts the command made for that folder.
    ///
    /// # Panics
    /// If the chain cannot be started.
    #[must_use]
    pub fn launch(manifest: &str, command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(MANIFEST), manifest).expect("the manifest is written");
        let command = command(folder.path());
        let client = Process::start("client", &Transcript::new(), command);
        let client = client.expect("the program starts");
        Self { client, folder }
    }

    /// Starts a chain as [`start`](Self::start) does, and initializes it.
    ///
    /// # Panics
    /// If the chain cannot be started.
    pub async fn initialized(manifest: &str, agent: &str) -> Self {
        let mut chain = Self::start(manifest, agent);
        chain.client.initialize().await;
        chain
    }

    /// The log file of a chain that was [started](Self::start).
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Sends a request with empty parameters, and waits for the answer.
    pub async fn request(&mut self, method: &str) -> Message {
        self.client.wire.request(method, "{}").await
    }

    /// Sends a request that is answered with an error, and returns the error's message.
    ///
    /// # Panics
    /// If the answer is not an error.
    pub async fn refused(&mut self, method: &str) -> String {
        let answer = self.request(method).await;
        error_of(&answer)
    }

    /// Checks that a request reaches the agent, which answers that the method is unknown.
    ///
    /// # Panics
    /// If the answer is another.
    pub async fn reaches_the_agent(&mut self, method: &str) {
        let error = self.refused(method).await;
        assert_eq!(error, format!("Method not found: {method}"));
    }

    /// The host's notices to the user so far.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let chunks = self.client.chunks().into_iter();
        let notices = chunks.filter_map(|text| {
            let text = text.strip_prefix(NOTICE)?.trim_end();
            Some(text.to_owned())
        });
        notices.collect()
    }

    /// Ends the chain, and returns its log.
    ///
    /// # Panics
    /// If the chain fails, writes to standard error, or has no log.
    pub async fn finish(self) -> String {
        let log = self.log_file();
        let Exit { status, stderr, .. } = self.client.finish().await.expect("the chain ends");
        assert!(status.success() && stderr.is_empty(), "{status}: {stderr}");
        fs::read_to_string(log).expect("a log")
    }
}

/// The command of a chain with the manifest and the log file in this folder.
fn logged(folder: &Path, agent: &[&str]) -> Command {
    let (log, manifest) = (folder.join("log"), folder.join(MANIFEST));
    let options = [
        "--log-file".as_ref(),
        log.as_os_str(),
        "--manifest".as_ref(),
        manifest.as_os_str(),
    ];
    host::run_with(options, agent)
}

/// The message of an error.
///
/// # Panics
/// If the answer is not an error.
#[must_use]
pub fn error_of(answer: &Message) -> String {
    let error = answer.error.as_deref();
    let error = error.unwrap_or_else(|| panic!("no error: {}", answer.line));
    let error: serde_json::Value = serde_json::from_str(error).expect("an error object");
    error["message"].as_str().expect("a message").to_owned()
}
