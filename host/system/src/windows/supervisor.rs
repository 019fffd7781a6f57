//! We start programs and open sockets ourselves: no right to that is given up here.

use std::io;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::process::{ChildStderr, Command};

use super::tree::Tree;
use crate::{CommandLine, Printed};

/// How much of a program's standard error is read at once.
const READ: usize = 1024;

/// Starts programs.
#[derive(Clone, Debug)]
pub struct Supervisor(());

/// A program that may be started, any number of times.
#[derive(Clone, Debug)]
pub struct Startable(CommandLine);

/// A running program.
pub struct Started {
    /// The process and everything that it starts.
    pub tree: Tree,
    /// Its standard input.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its standard output.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
}

impl Supervisor {
    /// Nothing has to be started.
    pub fn start(_: &Path) -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Nothing has to be started.
    pub fn fork() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Says which programs may be started.
    pub fn allow(&self, programs: Vec<CommandLine>) -> io::Result<Vec<Startable>> {
        Ok(programs.into_iter().map(Startable).collect())
    }
}

impl Startable {
    /// How it is started.
    pub fn command(&self) -> &CommandLine {
        &self.0
    }

    /// The same: here it has pipes.
    #[must_use]
    pub fn over_socket(self) -> Self {
        self
    }

    /// Starts it. Its standard error goes to `printed`, which is dropped at the end of it. Must be called within a
    /// tokio runtime.
    pub fn start(&self, printed: Printed) -> io::Result<Started> {
        let mut command = Command::from(self.0.plain());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut tree = Tree::spawn(command)?;
        let none = || io::Error::other("it has no standard streams");
        let (stdin, stdout, stderr) = tree.streams().ok_or_else(none)?;
        tokio::spawn(listen(stderr, printed));
        Ok(Started {
            tree,
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
        })
    }
}

async fn listen(mut stderr: ChildStderr, mut printed: Printed) {
    let mut bytes = vec![0; READ];
    while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
        printed(&bytes[..count]);
    }
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Started")
            .field("tree", &self.tree)
            .finish_non_exhaustive()
    }
}

/// There is no such process here.
#[expect(
    clippy::disallowed_macros,
    reason = "nothing in the words is from outside"
)]
pub fn main() -> ExitCode {
    eprintln!("acp-chain: `supervise` does nothing on this system");
    ExitCode::FAILURE
}
