//! A child process and everything that it starts: a process group, which it leads, and which the supervisor ends.
//!
//! Only processes that leave that group on purpose, like daemons, escape.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;

use tokio::sync::oneshot::{self, error::RecvError};

use super::supervisor::link::Link;

/// A process and everything that it started. They end when this is dropped, and when our process ends.
#[derive(Debug)]
pub struct Tree {
    process: u32,
    /// The supervisor's number for it.
    number: u64,
    end: oneshot::Receiver<ExitStatus>,
    /// The status, once reported.
    status: Option<Result<ExitStatus, RecvError>>,
    /// Keeps the supervisor alive.
    link: Arc<Link>,
}

impl Tree {
    /// Whether the system has a request to end that all programs support (SIGTERM).
    pub const CAN_BE_ASKED: bool = true;

    /// A process started by the supervisor, and the receiver of its status.
    pub(super) fn new(
        process: u32,
        number: u64,
        end: oneshot::Receiver<ExitStatus>,
        link: Arc<Link>,
    ) -> Self {
        Self {
            process,
            number,
            end,
            status: None,
            link,
        }
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.process
    }

    /// Waits for the end of the process. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        // The waker is kept even when the future that polled is dropped.
        let status = match &self.status {
            Some(status) => status.clone(),
            None => (&mut self.end).await,
        };
        self.status = Some(status.clone());
        status.map_err(|_| io::Error::other("the supervisor has ended"))
    }

    /// Sends the process SIGTERM. It and its children are killed if they do not end in time.
    pub fn end(&mut self) {
        // Even after the process exited, its children must be ended.
        if self.status.is_none() {
            self.link.end(self.number);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

/// The signal that ended a process.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}
