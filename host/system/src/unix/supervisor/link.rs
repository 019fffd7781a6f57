//! The supervisor's process, and the connection to it.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::Mutex;
use fork::Fork;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::programs::Programs;
use super::service;
use super::wire::{self, ReceivedReply, Request};

const SUBCOMMAND: &str = "supervise";

/// Timeout for an answer, and for the end of all programs. Both are prompt; but a stopped process must not block the
/// host forever.
const PATIENCE: Duration = Duration::from_secs(10);

/// The supervisor's process. It ends, with all its programs, when this is dropped.
#[derive(Debug)]
pub struct Link {
    socket: Mutex<UnixStream>,
    events: Mutex<Option<UnixStream>>,
    pub programs: Arc<Programs>,
    process: Pid,
}

/// One side of the sockets between the host and the supervisor.
struct Ends {
    requests: UnixStream,
    events: UnixStream,
}

impl Ends {
    /// The host's side, and the supervisor's.
    fn pair() -> io::Result<(Self, Self)> {
        let (requests, their_requests) = UnixStream::pair()?;
        let (events, their_events) = UnixStream::pair()?;
        requests.set_read_timeout(Some(PATIENCE))?;
        requests.set_write_timeout(Some(PATIENCE))?;
        let ours = Self { requests, events };
        let theirs = Self {
            requests: their_requests,
            events: their_events,
        };
        Ok((ours, theirs))
    }
}

impl Link {
    /// Starts `acp-chain supervise`.
    pub fn start(program: &Path) -> io::Result<Self> {
        let (ours, theirs) = Ends::pair()?;
        // Editors kill our process group as a whole; the supervisor must survive that to end the programs.
        let process = Command::new(program)
            .arg(SUBCOMMAND)
            .stdin(Stdio::from(OwnedFd::from(theirs.requests)))
            .stdout(Stdio::from(OwnedFd::from(theirs.events)))
            .stderr(Stdio::null())
            .process_group(0)
            .env_remove(crate::STORE_PASSWORD)
            .spawn()?;
        Ok(Self::new(ours, Pid::from_child(&process)))
    }

    /// Forks this process, which must have no other thread.
    pub fn fork() -> io::Result<Self> {
        let (ours, theirs) = Ends::pair()?;
        match fork::fork()? {
            Fork::Parent(process) => {
                let process = Pid::from_raw(process).ok_or(io::ErrorKind::InvalidData)?;
                Ok(Self::new(ours, process))
            }
            Fork::Child => {
                // With a copy here, the supervisor would not see when the host closes its ends.
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
            events: Mutex::new(Some(ours.events)),
            programs: Arc::default(),
            process,
        }
    }

    pub fn ask(&self, request: &Request) -> io::Result<ReceivedReply> {
        wire::ask(&mut self.socket.lock(), request)
    }

    /// Ends a program. Errors are ignored: if the supervisor has ended, so have its programs.
    pub fn end(&self, number: u64) {
        let _ = wire::say(&mut self.socket.lock(), &Request::End(number));
    }

    /// Has all programs ended unless this is called again within this time, in milliseconds. Errors are ignored as
    /// above.
    pub fn watch(&self, within: Option<u64>) {
        let _ = wire::say(&mut self.socket.lock(), &Request::Watch(within));
    }

    /// Reads events as long as the runtime exists. Later calls do nothing.
    pub fn read_events(&self) -> io::Result<()> {
        let events = self.events.lock().take();
        if let Some(events) = events {
            events.set_nonblocking(true)?;
            let events = tokio::net::UnixStream::from_std(events)?;
            tokio::spawn(Arc::clone(&self.programs).read_events(events));
        }
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let socket = self.socket.get_mut();
        // The supervisor sends nothing more, and ends when all its programs have.
        let _ = socket.shutdown(Shutdown::Write);
        let ended = socket.read(&mut [0]);
        if matches!(ended, Ok(0)) {
            let _ = waitpid(Some(self.process), WaitOptions::empty());
        }
    }
}
