//! A process of our own that starts programs and opens sockets in our place, when we have given up
//! the right to.
//!
//! It starts only what it was told of at the beginning, and holds each as a process group. What it
//! has started or opened comes to us as descriptors, one of which is that thing's life: when it is
//! closed the thing is ended, and so it is when we are gone, however we went. What programs started
//! goes with them, also where the program itself, as agents from npm are, is but a launcher.
//!
//! | file | what it is |
//! |---|---|
//! | `mod` | our side |
//! | `service` | the process itself: `acp-chain supervise` |
//! | `wire` | what both say: lines of JSON, and descriptors with them |

mod service;
#[cfg(test)]
mod tests;
mod wire;

use std::io::{self, Read};
use std::net::{Shutdown, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::ioctl_fionbio;
use tokio::net::unix::pipe;

pub use self::service::main;
use self::wire::{Reply, Request};
use super::tree::Tree;
use crate::system::CommandLine;

/// What a program that runs is written to, and read from.
pub type Input = pipe::Sender;
pub type Output = pipe::Receiver;

/// The subcommand that is the process.
const SUBCOMMAND: &str = "supervise";

/// How long it may take to answer, or to end all that it holds. It does both at once; but nobody
/// is to wait for ever for one that was stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// The process. It ends, with all that it holds, when the last clone of this and the last thing that
/// it started are dropped.
#[derive(Clone, Debug)]
pub struct Supervisor(Arc<Mutex<Link>>);

#[derive(Debug)]
struct Link {
    socket: UnixStream,
    process: Child,
}

/// A program that it may start, as often as it takes.
#[derive(Clone, Debug)]
pub struct Startable {
    supervisor: Supervisor,
    number: usize,
    command: CommandLine,
}

/// A program that runs.
#[derive(Debug)]
pub struct Started {
    /// The process and all that it starts.
    pub tree: Tree,
    /// Its standard input.
    pub stdin: Input,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: Output,
}

impl Supervisor {
    /// Starts it. `program` is our own executable.
    pub fn start(program: &Path) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        // Editors kill our process group as a whole; then somebody has to be left to end the others.
        let process = Command::new(program)
            .arg(SUBCOMMAND)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self(Arc::new(Mutex::new(Link { socket, process }))))
    }

    /// Says which programs it may start. That is said once; a second time is an error.
    pub fn allow(&self, programs: Vec<CommandLine>) -> io::Result<Vec<Startable>> {
        self.ask(&Request::Allow(programs.clone()))?;
        let startable = |(number, command)| Startable {
            supervisor: self.clone(),
            number,
            command,
        };
        Ok(programs.into_iter().enumerate().map(startable).collect())
    }

    /// Opens a socket for programs of our user, at an address that has this text in it. Gives its
    /// path; the socket, and its life.
    pub(super) fn socket(&self, random: &str) -> io::Result<(PathBuf, UnixListener, UnixStream)> {
        let asked = self.ask(&Request::Socket(random.to_owned()))?;
        let (Reply::Socket(path), [socket, life]) = asked.parts()? else {
            return Err(wire::misunderstood());
        };
        Ok((path.into(), socket.into(), life.into()))
    }

    /// Opens a port of the loopback interface.
    pub(super) fn port(&self) -> io::Result<TcpListener> {
        let (Reply::Port, [port]) = self.ask(&Request::Port)?.parts()? else {
            return Err(wire::misunderstood());
        };
        Ok(port.into())
    }

    fn ask(&self, request: &Request) -> io::Result<wire::Received> {
        let mut link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wire::ask(&mut link.socket, request)
    }
}

impl Startable {
    /// What it is started by.
    pub fn command(&self) -> &CommandLine {
        &self.command
    }

    /// Starts it. Call it within a tokio runtime.
    pub fn start(&self) -> io::Result<Started> {
        let asked = self.supervisor.ask(&Request::Start(self.number))?;
        let (Reply::Started(process), [stdin, stdout, stderr, life]) = asked.parts()? else {
            return Err(wire::misunderstood());
        };
        for stream in [&stdin, &stdout, &stderr] {
            // By other means no right to it is left.
            ioctl_fionbio(stream, true)?;
        }
        Ok(Started {
            tree: Tree::new(process, life.into(), self.supervisor.clone())?,
            stdin: pipe::Sender::from_owned_fd(stdin)?,
            stdout: pipe::Receiver::from_owned_fd(stdout)?,
            stderr: pipe::Receiver::from_owned_fd(stderr)?,
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // It says nothing more, and is at its end when all that it held is.
        let _ = self.socket.shutdown(Shutdown::Write);
        let ended = self.socket.read(&mut [0]);
        if matches!(ended, Ok(0)) {
            let _ = self.process.wait();
        }
    }
}
