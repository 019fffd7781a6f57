//! acp-chain as an editor launches it: over pipes, with a client of ours on the other side.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A running host.
pub struct Host {
    child: Child,
    /// What it reads.
    pub input: ChildStdin,
    lines: Receiver<String>,
}

/// A path as an argument among others.
pub fn text(path: &Path) -> Result<String> {
    let text = path.to_str().context("a path is not UTF-8")?;
    Ok(text.to_owned())
}

impl Host {
    /// Starts a command that serves on its standard input and output.
    pub fn launch(command: &[String]) -> Result<Self> {
        let (program, args) = command.split_first().context("no command")?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{program} cannot be started"))?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let (sender, lines) = channel();
        // In a thread of its own, so that waiting for a line can be given up.
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            input,
            lines,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line; none if there is none for so long.
    pub fn line(&self, patience: Duration) -> Result<Option<String>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                anyhow::bail!("acp-chain has closed its output")
            }
        }
    }

    /// The next message; none if there is none for so long.
    pub fn receive(&self, patience: Duration) -> Result<Option<Value>> {
        let line = self.line(patience)?;
        Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
    }

    /// Ends the connection as editors do, by closing the input.
    pub fn close(mut self) -> Result<ExitStatus> {
        drop(self.input);
        Ok(self.child.wait()?)
    }
}

/// An error unless the host ended well.
pub fn ended_well(status: ExitStatus) -> Result<()> {
    ensure!(status.success(), "acp-chain ended with {status}");
    Ok(())
}
