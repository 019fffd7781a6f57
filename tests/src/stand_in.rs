//! Parts of a chain that are processes of their own, to be killed, while the test says their lines:
//! the program `stand-in`, and this end of its socket.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use tokio::net::{UnixListener, UnixStream};

use crate::transcript::Transcript;
use crate::wire::{Wire, in_time};

/// A place for one part, in which a process may stand, and after it another.
#[derive(Debug)]
pub struct StandIn {
    socket: PathBuf,
    listener: UnixListener,
    end: &'static str,
}

impl StandIn {
    /// A place that is called so in the transcript. Call it within a tokio runtime.
    ///
    /// # Errors
    /// If there can be no socket in the folder.
    pub fn new(folder: &Path, end: &'static str) -> io::Result<Self> {
        let socket = folder.join(end);
        let listener = UnixListener::bind(&socket)?;
        Ok(Self {
            socket,
            listener,
            end,
        })
    }

    /// The command line of the process, which is to be started by whoever starts parts.
    #[must_use]
    pub fn command(&self, program: &str) -> [OsString; 2] {
        [program.into(), self.socket.clone().into()]
    }

    /// The next process that stands here, and what the host has with it.
    ///
    /// # Panics
    /// If none comes.
    pub async fn started(&self, transcript: &Transcript) -> (Pid, Wire) {
        let (pid, stream) = self.connected().await;
        (pid, Wire::over(self.end, transcript, stream))
    }

    /// The same, for a test that reads and writes bytes.
    ///
    /// # Panics
    /// If none comes.
    pub async fn connected(&self) -> (Pid, UnixStream) {
        let what = format!("the process of the {}", self.end);
        let accepted = in_time(&what, self.listener.accept()).await;
        let (stream, _) = accepted.expect("a connection");
        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
        (pid.and_then(Pid::from_raw).expect("its process id"), stream)
    }
}

/// Kills a process, and it alone.
///
/// # Errors
/// If it is gone.
pub fn kill(pid: Pid) -> io::Result<()> {
    Ok(kill_process(pid, Signal::KILL)?)
}
