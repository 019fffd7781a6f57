//! We start programs and open sockets ourselves: no right to that is given up here.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::tree::Tree;
use crate::CommandLine;

/// The input of a running program.
pub type Input = ChildStdin;
/// The output of a running program.
pub type Output = ChildStdout;

/// What starts programs.
#[derive(Clone, Debug)]
pub struct Supervisor(());

/// A program that may be started, any number of times.
#[derive(Clone, Debug)]
pub struct Startable(CommandLine);

/// A running program.
#[derive(Debug)]
pub struct Started {
    /// The process and everything that it starts.
    pub tree: Tree,
    /// Its standard input.
    pub stdin: Input,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: ChildStderr,
}

impl Supervisor {
    /// Nothing has to be started.
    pub fn start(_: &Path) -> io::Result<Self> {
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

    /// Starts it. Call it within a tokio runtime.
    pub fn start(&self) -> io::Result<Started> {
        let mut tree = Tree::spawn(self.0.piped())?;
        let none = || io::Error::other("it has no standard streams");
        let (stdin, stdout, stderr) = tree.streams().ok_or_else(none)?;
        Ok(Started {
            tree,
            stdin,
            stdout,
            stderr,
        })
    }
}

/// There is no such process here.
pub fn main() -> ExitCode {
    eprintln!("acp-chain: `supervise` does nothing on this system");
    ExitCode::FAILURE
}
