//! Another process of ours that works for this one, over pipes.

use std::io::{self, Write};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};

use tokio::process::{ChildStdin, ChildStdout};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

/// A running process. It is not waited for: it must end by itself when its input ends.
#[derive(Debug)]
pub struct Worker(Child);

impl Worker {
    /// Starts the process, and writes the beginning of its input. Blocks until the process has read most of that.
    pub fn start(mut command: Command, beginning: &[u8]) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl+C in our console does not reach it, and under an editor without a console no window opens.
        let mut child = command.creation_flags(CREATE_NO_WINDOW.0).spawn()?;
        let input = child.stdin.as_mut().ok_or_else(none)?;
        input.write_all(beginning)?;
        Ok(Self(child))
    }

    /// The output of the process, and the rest of its input. Must be called within a tokio runtime.
    pub fn streams(self) -> io::Result<(ChildStdout, ChildStdin)> {
        let output = self.0.stdout.ok_or_else(none)?;
        let input = self.0.stdin.ok_or_else(none)?;
        Ok((ChildStdout::from_std(output)?, ChildStdin::from_std(input)?))
    }
}

fn none() -> io::Error {
    io::Error::other("it has no standard streams")
}
