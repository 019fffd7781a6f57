//! A child process and all that it starts: a process group, which it leads, and which the supervisor
//! holds.
//!
//! Only what leaves that group on purpose, as a daemon does, gets away.

use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;

use tokio::net::UnixStream;

use super::supervisor::link::Link;

/// What is said of a group over its life: to ask all of it to end, and to kill it.
pub(super) const ASK: u8 = b'a';
pub(super) const KILL: u8 = b'k';

/// A process and all that it started. When it is dropped, and when we are gone, so are they.
#[derive(Debug)]
pub struct Tree {
    process: u32,
    /// Says how the process ended; closed, all of them are killed.
    life: Option<UnixStream>,
    status: Vec<u8>,
    /// The supervisor has to be there for as long as this is.
    _link: Arc<Link>,
}

impl Tree {
    /// A process that the supervisor has started.
    pub(super) fn new(process: u32, life: StdStream, link: Arc<Link>) -> io::Result<Self> {
        life.set_nonblocking(true)?;
        Ok(Self {
            process,
            life: Some(UnixStream::from_std(life)?),
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
            let gone = || io::Error::other("the supervisor is gone");
            let life = self.life.as_ref().ok_or_else(gone)?;
            life.readable().await?;
            let mut bytes = [0; 4];
            match life.try_read(&mut bytes[self.status.len()..]) {
                Ok(0) => return Err(gone()),
                Ok(count) => {
                    let from = self.status.len();
                    self.status.extend_from_slice(&bytes[from..from + count]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks all of them to end. Whether there is a way to.
    pub fn ask_to_end(&self) -> bool {
        self.wish(ASK);
        true
    }

    /// Kills all of them.
    pub fn kill(&mut self) {
        self.wish(KILL);
    }

    /// To be called when all of them were killed and the process has been waited for.
    pub fn release(&mut self) {
        self.life = None;
    }

    fn wish(&self, wish: u8) {
        if let Some(life) = &self.life {
            // If the supervisor is gone there is nobody to do it. There is room for a few of these.
            let _ = life.try_write(&[wish]);
        }
    }
}

/// How the supervisor says it.
pub(super) fn status_bytes(status: ExitStatus) -> [u8; 4] {
    status.into_raw().to_ne_bytes()
}

/// The signal that ended a process.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}
