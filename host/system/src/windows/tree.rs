//! A child process and everything that it starts: a job object.
//!
//! The process starts suspended and is in the job before it runs. Processes cannot leave the job, and only we have a
//! handle to it: the system kills its processes when that handle is closed, and so also when our process ends, for
//! whatever reason.

use std::io;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

/// A process and everything that it started. They end when this is dropped, and when our process ends.
#[derive(Debug)]
pub struct Tree(Box<dyn ChildWrapper>);

impl Tree {
    /// Whether the system has a request to end that all programs support.
    pub const CAN_BE_ASKED: bool = false;

    /// Starts a process.
    pub fn spawn(command: Command) -> io::Result<Self> {
        CommandWrap::from(command)
            .wrap(JobObject)
            // Without this the job would only group the processes.
            .wrap(KillOnDrop)
            // A hidden console: Ctrl+C in ours does not reach the program, and under an editor without a console no
            // window opens.
            .wrap(CreationFlags(CREATE_NO_WINDOW))
            .spawn()
            .map(Self)
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.0.id().unwrap_or_default()
    }

    /// The streams of the process that are pipes, once.
    pub fn streams(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((
            self.0.stdin().take()?,
            self.0.stdout().take()?,
            self.0.stderr().take()?,
        ))
    }

    /// Waits for the end of the process. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        // The job's `wait` would wait for all processes, on a thread that cannot be cancelled.
        self.0.inner_mut().wait().await
    }

    /// Kills all processes of the job.
    pub fn end(&mut self) {
        if self.0.start_kill().is_err() {
            // At least kill the process, since callers wait for it.
            let _ = self.0.inner_mut().start_kill();
        }
    }
}

/// The signal that ended a process: this system has none.
pub fn signal(_: ExitStatus) -> Option<i32> {
    None
}
