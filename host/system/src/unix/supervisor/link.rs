//! The process, and the connection to it.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::programs::Programs;
use super::wire::{self, Received, Request};

/// The subcommand that is the process.
const SUBCOMMAND: &str = "supervise";

/// How long it may take to answer, or to end its programs. It does both at once; but nobody should wait forever for a
/// stopped process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The process. It ends when this is dropped, with all its programs.
#[derive(Debug)]
pub struct Link {
    socket: Mutex<UnixStream>,
    /// The socket for its events, until somebody reads it.
    told: Mutex<Option<UnixStream>>,
    /// The running programs.
    pub programs: Arc<Programs>,
    process: Child,
}

impl Link {
    /// Starts the process.
    pub fn start(program: &Path) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let (told, tells) = UnixStream::pair()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        // Editors kill our process group as a whole; somebody must be left to end the others.
        let process = Command::new(program)
            .arg(SUBCOMMAND)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(tells)))
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self {
            socket: Mutex::new(socket),
            told: Mutex::new(Some(told)),
            programs: Arc::default(),
            process,
        })
    }

    fn socket(&self) -> MutexGuard<'_, UnixStream> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends it a request, and waits for the answer.
    pub fn ask(&self, request: &Request) -> io::Result<Received> {
        wire::ask(&mut self.socket(), request)
    }

    /// Makes it end a program. If it is gone, its programs are, too.
    pub fn end(&self, number: u64) {
        let _ = wire::say(&mut self.socket(), &Request::End(number));
    }

    /// Reads its events from now on, as long as the runtime exists.
    pub fn hear(&self) -> io::Result<()> {
        let told = self
            .told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(told) = told {
            told.set_nonblocking(true)?;
            let told = tokio::net::UnixStream::from_std(told)?;
            tokio::spawn(Arc::clone(&self.programs).hear(told));
        }
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let socket = self.socket.get_mut();
        let socket = socket.unwrap_or_else(PoisonError::into_inner);
        // It sends nothing more, and ends when all its programs have.
        let _ = socket.shutdown(Shutdown::Write);
        let ended = socket.read(&mut [0]);
        if matches!(ended, Ok(0)) {
            let _ = self.process.wait();
        }
    }
}
