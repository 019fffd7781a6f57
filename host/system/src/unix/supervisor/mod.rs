//! A process of our own that starts programs and opens sockets for us after we have given up the right to.
//!
//! It starts only programs that it was told of at the beginning, each as a process group. We get the result as
//! descriptors, one of which is its lifeline: when that is closed, the program or socket ends, and so it does when we
//! are gone, for whatever reason.
//!
//! Ending is gentle first: only the program itself is asked, so that it can end its children as it would without us;
//! then the rest of its group has a while, also where the program was only a launcher, like npm; then all of them are
//! killed.
//!
//! | file | what it is |
//! |---|---|
//! | `mod` | our side |
//! | `input` | what a program is told |
//! | `link` | the process, as long as it is needed |
//! | `service` | the process itself: `acp-chain supervise` |
//! | `wire` | what both say: lines of JSON, and descriptors with them |

mod input;
pub(super) mod link;
mod service;
#[cfg(test)]
mod tests;
mod wire;

use std::io;
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::ioctl_fionbio;
use tokio::net::unix::pipe;

pub use self::input::Input;
pub use self::service::main;

use self::link::Link;
use self::wire::{Reply, Request};
use super::tree::Tree;
use crate::CommandLine;

/// The output of a running program.
pub type Output = pipe::Receiver;

/// The process. It ends, with its programs, when the last clone of this and of what it started is dropped.
#[derive(Clone, Debug)]
pub struct Supervisor(Arc<Link>);

/// A program that it may start, any number of times.
#[derive(Clone, Debug)]
pub struct Startable {
    supervisor: Supervisor,
    number: usize,
    command: CommandLine,
}

/// A running program.
#[derive(Debug)]
pub struct Started {
    /// The process and everything that it starts.
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
        Ok(Self(Arc::new(Link::start(program)?)))
    }

    /// Says which programs it may start, once; a second time is an error.
    pub fn allow(&self, programs: Vec<CommandLine>) -> io::Result<Vec<Startable>> {
        self.0.ask(&Request::Allow(programs.clone()))?;
        let startable = |(number, command)| Startable {
            supervisor: self.clone(),
            number,
            command,
        };
        Ok(programs.into_iter().enumerate().map(startable).collect())
    }

    /// Opens a socket for programs of our user, at an address that contains this text. Returns its path; the socket,
    /// and its lifeline.
    pub(super) fn socket(&self, random: &str) -> io::Result<(PathBuf, UnixListener, UnixStream)> {
        let asked = self.0.ask(&Request::Socket(random.to_owned()))?;
        let (Reply::Socket(path), [socket, life]) = asked.parts()? else {
            return Err(wire::misunderstood());
        };
        Ok((path.into(), socket.into(), life.into()))
    }

    /// Opens a port on the loopback interface.
    pub(super) fn port(&self) -> io::Result<TcpListener> {
        let (Reply::Port, [port]) = self.0.ask(&Request::Port)?.parts()? else {
            return Err(wire::misunderstood());
        };
        Ok(port.into())
    }
}

impl Startable {
    /// How it is started.
    pub fn command(&self) -> &CommandLine {
        &self.command
    }

    /// Starts it. Call it within a tokio runtime.
    pub fn start(&self) -> io::Result<Started> {
        let asked = self.supervisor.0.ask(&Request::Start(self.number))?;
        let (Reply::Started(process), [stdin, stdout, stderr, life]) = asked.parts()? else {
            return Err(wire::misunderstood());
        };
        for stream in [&stdin, &stdout, &stderr] {
            // We have no right to start it otherwise.
            ioctl_fionbio(stream, true)?;
        }
        Ok(Started {
            tree: Tree::new(process, life.into(), Arc::clone(&self.supervisor.0))?,
            stdin: Input::new(stdin)?,
            stdout: pipe::Receiver::from_owned_fd(stdout)?,
            stderr: pipe::Receiver::from_owned_fd(stderr)?,
        })
    }
}
