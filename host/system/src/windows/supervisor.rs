//! Starts programs within this process, which gives up no rights here.

use std::io;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};

use super::tree::Tree;
use crate::{CommandLine, Descent, HOOK_TOKEN, StartedProgram, StderrCallback};

/// How much of a program's standard error is read at once.
const READ: usize = 1024;

#[derive(Clone, Debug)]
pub struct Supervisor(());

/// An allowed program. It can be started any number of times.
#[derive(Clone, Debug)]
pub struct Startable(CommandLine);

impl Supervisor {
    /// Whether [`descent`](Self::descent) tells anything on this system.
    pub const KNOWS_DESCENT: bool = false;

    /// Does nothing: no process is needed.
    pub fn start(_: &Path) -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Does nothing: no process is needed.
    pub fn fork() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Sets the programs that can be started.
    pub fn allow(&self, programs: Vec<CommandLine>, _: usize) -> io::Result<Vec<Startable>> {
        Ok(programs.into_iter().map(Startable).collect())
    }

    /// Does nothing: no other process could end the programs.
    pub fn watch(&self, _: Option<Duration>) {}

    /// Tells nothing.
    pub fn descent(&self, _: &str, _: u32, _: &str) -> io::Result<Descent> {
        Ok(Descent::Unknown)
    }
}

impl Startable {
    pub fn command(&self) -> &CommandLine {
        &self.0
    }

    /// Does nothing: programs always have pipes here.
    #[must_use]
    pub fn over_socket(self) -> Self {
        self
    }

    /// Adds a token for the hooks of the agent that this is, if there is one, to the environment.
    #[must_use]
    pub fn with_hook_token(mut self, token: Option<String>) -> Self {
        let variable = token.map(|token| (HOOK_TOKEN.into(), token.into()));
        self.0.env.extend(variable);
        self
    }

    /// Starts the program. `printed` receives its standard error, and is dropped when that ends. Must be called within
    /// a tokio runtime.
    pub fn start(&self, printed: StderrCallback) -> io::Result<StartedProgram> {
        let mut command = Command::from(self.0.plain());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut tree = Tree::spawn(command)?;
        let none = || io::Error::other("it has no standard streams");
        let (stdin, stdout, stderr) = tree.streams().ok_or_else(none)?;
        tokio::spawn(listen(stderr, printed));
        Ok(StartedProgram {
            tree,
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
        })
    }
}

async fn listen(mut stderr: ChildStderr, mut printed: StderrCallback) {
    let mut bytes = vec![0; READ];
    while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
        printed(&bytes[..count]);
    }
}

/// Fails: this system needs no supervisor.
#[expect(
    clippy::disallowed_macros,
    reason = "the message has no text from outside"
)]
pub fn main() -> ExitCode {
    eprintln!("acp-chain: `supervise` does nothing on this system");
    ExitCode::FAILURE
}
