//! A child process and all that it starts: a process group, which it leads.
//!
//! Only what leaves that group on purpose, as a daemon does, gets away.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::guard::Guard;

/// A process and all that it started. When it is dropped, and when we are gone, so are they.
#[derive(Debug)]
pub struct Tree {
    child: Child,
    group: Pid,
    /// Called off when the process is gone.
    guard: Option<Guard>,
    /// Whether the group is gone, and its number no longer ours.
    gone: bool,
}

impl Tree {
    /// Starts a process.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()))
            .ok_or_else(|| io::Error::other("it has no process id"))?;
        let guard = Guard::new(group)
            .inspect_err(|error| tracing::warn!("process {group} goes unguarded: {error}"))
            .ok();
        Ok(Self {
            child,
            group,
            guard,
            gone: false,
        })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.group.as_raw_pid().cast_unsigned()
    }

    /// The streams of the process that are pipes, once.
    pub fn streams(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        let child = &mut self.child;
        Some((
            child.stdin.take()?,
            child.stdout.take()?,
            child.stderr.take()?,
        ))
    }

    /// Waits for the end of the process. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks all of them to end. Whether there is a way to.
    pub fn ask_to_end(&self) -> bool {
        self.signal(Signal::TERM);
        true
    }

    /// Kills all of them.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// To be called when all of them were killed and the process has been waited for.
    pub fn release(&mut self) {
        self.gone = true;
        self.guard = None;
    }

    fn signal(&self, signal: Signal) {
        if self.gone {
            return;
        }
        // Nobody of the group may be left, which is well.
        let _ = kill_process_group(self.group, signal);
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The signal that ended a process.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}
