//! Parts of a chain that run as processes, so that a test can kill them, while the test sends and
//! receives their messages: the program `stand-in`, and the test's end of its socket.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use tokio::net::{UnixListener, UnixStream};

use crate::transcript::Transcript;
use crate::wire::{Wire, in_time};

/// A place for one part of a chain, which one process after another can take.
#[derive(Debug)]
pub struct StandIn {
    socket: PathBuf,
    listener: UnixListener,
    end: &'static str,
}

impl StandIn {
    /// A place named `end` in the transcript. Call this within a tokio runtime.
    ///
    /// # Errors
    /// If the socket cannot be created in the folder.
    pub fn new(folder: &Path, end: &'static str) -> io::Result<Self> {
        let socket = folder.join(end);
        let listener = UnixListener::bind(&socket)?;
        Ok(Self {
            socket,
            listener,
            end,
        })
    }

    /// The command line of the process, for the host to start.
    #[must_use]
    pub fn command(&self, program: &str) -> [OsString; 2] {
        [program.into(), self.socket.clone().into()]
    }

    /// The next process that takes this place, and the test's end of its wire.
    ///
    /// # Panics
    /// If no process connects.
    pub async fn started(&self, transcript: &Transcript) -> (Pid, Wire) {
        let (pid, stream) = self.connected().await;
        (pid, Wire::over(self.end, transcript, stream))
    }

    /// Like [`started`](Self::started), for a test that reads and writes bytes.
    ///
    /// # Panics
    /// If no process connects.
    pub async fn connected(&self) -> (Pid, UnixStream) {
        let what = format!("the process of the {}", self.end);
        let accepted = in_time(&what, self.listener.accept()).await;
        let (stream, _) = accepted.expect("a connection");
        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
        (pid.and_then(Pid::from_raw).expect("a process id"), stream)
    }
}

/// Kills this process alone.
///
/// # Errors
/// If the process has ended.
pub fn kill(pid: Pid) -> io::Result<()> {
    Ok(kill_process(pid, Signal::KILL)?)
}
