//! acp-chain as an editor launches it: over pipes, with our client on the other side.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use acp_chain_ends::editor::lines;
use anyhow::{Context, Result};
use serde_json::Value;

/// A running host.
pub struct Host {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// A process that is killed when this is dropped.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A path as a string argument.
pub fn text(path: &Path) -> Result<String> {
    let text = path.to_str().context("a path is not UTF-8")?;
    Ok(text.to_owned())
}

/// Sends a message to the other end.
pub fn send(to: &mut impl Write, message: &Value) -> Result<()> {
    writeln!(to, "{message}")?;
    to.flush().context("the other end has closed")
}

impl Host {
    /// Starts a command that serves on its standard input and output.
    pub fn launch(command: &[String]) -> Result<Self> {
        let (program, args) = command.split_first().context("no command")?;
        Self::start(Command::new(program).args(args))
    }

    /// Like [`Self::launch`], with a command whose environment is set.
    pub fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{program} cannot be started"))?;
        let input = child.stdin.take().context("no input")?;
        let lines = lines(child.stdout.take().context("no output")?);
        Ok(Self {
            child,
            input,
            lines,
        })
    }

    pub fn send(&mut self, message: &Value) -> Result<()> {
        send(&mut self.input, message)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line; `None` if none arrives in time.
    pub fn line(&self, patience: Duration) -> Result<Option<String>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                anyhow::bail!("the program has closed its output")
            }
        }
    }

    /// The next message; `None` if none arrives in time.
    pub fn receive(&self, patience: Duration) -> Result<Option<Value>> {
        let line = self.line(patience)?;
        Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
    }

    /// Ends the connection as editors do, by closing the input.
    pub fn close(mut self) -> Result<ExitStatus> {
        drop(self.input);
        Ok(self.child.wait()?)
    }

    /// Like [`Self::close`], but kills a program that does not end in time, and returns `None`.
    pub fn close_within(mut self, patience: Duration) -> Result<Option<ExitStatus>> {
        drop(self.input);
        let start = Instant::now();
        while start.elapsed() < patience {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.child.kill()?;
        self.child.wait()?;
        Ok(None)
    }
}
