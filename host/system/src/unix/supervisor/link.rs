//! The process, and the connection to it.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fork::Fork;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::programs::Programs;
use super::service;
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
    process: Pid,
}

/// One side of the sockets between the host and the process.
struct Ends {
    requests: UnixStream,
    events: UnixStream,
}

impl Ends {
    /// Both sides: the host's, and the process's.
    fn pair() -> io::Result<(Self, Self)> {
        let (asks, asked) = UnixStream::pair()?;
        let (hears, told) = UnixStream::pair()?;
        asks.set_read_timeout(Some(PATIENCE))?;
        asks.set_write_timeout(Some(PATIENCE))?;
        let ours = Self {
            requests: asks,
            events: hears,
        };
        let theirs = Self {
            requests: asked,
            events: told,
        };
        Ok((ours, theirs))
    }
}

impl Link {
    /// Starts the process.
    pub fn start(program: &Path) -> io::Result<Self> {
        let (ours, theirs) = Ends::pair()?;
        // Editors kill our process group as a whole; somebody must be left to end the others.
        let process = Command::new(program)
            .arg(SUBCOMMAND)
            .stdin(Stdio::from(OwnedFd::from(theirs.requests)))
            .stdout(Stdio::from(OwnedFd::from(theirs.events)))
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self::new(ours, Pid::from_child(&process)))
    }

    /// Makes the process of this one, which must have no other thread.
    pub fn fork() -> io::Result<Self> {
        let (ours, theirs) = Ends::pair()?;
        match fork::fork()? {
            Fork::Parent(process) => {
                let process = Pid::from_raw(process).ok_or(io::ErrorKind::InvalidData)?;
                Ok(Self::new(ours, process))
            }
            Fork::Child => {
                // The process has to see when the host's ends are closed.
                drop(ours);
                let served =
                    service::in_place_of_host(theirs.requests.into(), theirs.events.into());
                process::exit(i32::from(served.is_err()))
            }
        }
    }

    fn new(ours: Ends, process: Pid) -> Self {
        Self {
            socket: Mutex::new(ours.requests),
            told: Mutex::new(Some(ours.events)),
            programs: Arc::default(),
            process,
        }
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
            let _ = waitpid(Some(self.process), WaitOptions::empty());
        }
    }
}
