//! A child process and everything that it starts: a process group, which it leads, and which the supervisor holds.
//!
//! Only processes that leave that group on purpose, like daemons, escape.

use std::future::poll_fn;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;

use rustix::net::Shutdown;
use tokio::net::UnixStream;

use super::supervisor::link::Link;

/// A process and everything that it started. They end when this is dropped, and when we are gone.
#[derive(Debug)]
pub struct Tree {
    process: u32,
    /// Says how the process ended, and closes when all of them are gone. Closing it here ends them.
    life: UnixStream,
    status: Vec<u8>,
    /// The supervisor must live as long as this.
    _link: Arc<Link>,
}

impl Tree {
    /// Whether the system has a way to ask a process to end that all programs know.
    pub const CAN_BE_ASKED: bool = true;

    /// A process that the supervisor has started.
    pub(super) fn new(process: u32, life: StdStream, link: Arc<Link>) -> io::Result<Self> {
        life.set_nonblocking(true)?;
        Ok(Self {
            process,
            life: UnixStream::from_std(life)?,
            status: Vec::new(),
            _link: link,
        })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.process
    }

    /// Waits for the end of the process. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Ok(status) = <[u8; 4]>::try_from(&*self.status) {
                return Ok(ExitStatus::from_raw(i32::from_ne_bytes(status)));
            }
            // By hand: the poller is woken even if its future is gone.
            poll_fn(|context| self.life.poll_read_ready(context)).await?;
            let mut bytes = [0; 4];
            match self.life.try_read(&mut bytes[self.status.len()..]) {
                Ok(0) => return Err(io::Error::other("the supervisor is gone")),
                Ok(count) => {
                    let from = self.status.len();
                    self.status.extend_from_slice(&bytes[from..from + count]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks the process to end. It has some time, and so have its children; then they are killed.
    pub fn end(&mut self) {
        // If the supervisor is gone, nobody can do it.
        let _ = rustix::net::shutdown(&self.life, Shutdown::Write);
    }
}

/// The supervisor's form of it.
pub(super) fn status_bytes(status: ExitStatus) -> [u8; 4] {
    status.into_raw().to_ne_bytes()
}

/// The signal that ended a process.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}
