//! A process of our own that starts programs and opens sockets for us after we have given up the right to.
//!
//! It starts only programs that were allowed at the beginning, each as a process group. We get the result as
//! descriptors, as few as possible, since a server has thousands of programs. A program ends when we say so, and when
//! we are gone, for whatever reason.
//!
//! Ending is gentle at first: only the program itself is asked, so that it can end its children as it would without
//! us; then the rest of its group has a while, even if the program was only a launcher, like npm; then all of them
//! are killed.
//!
//! | file | what it is |
//! |---|---|
//! | `mod` | our side |
//! | `input` | a program's standard input |
//! | `link` | the process, as long as it is needed |
//! | `programs` | the running programs, and its events about them |
//! | `service` | the process itself: `acp-chain supervise`, or a copy of the host as it begins |
//! | `wire` | the protocol: lines of JSON, with descriptors |

mod input;
pub(super) mod link;
mod programs;
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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

pub use self::service::main;

use self::input::Input;
use self::link::Link;
use self::wire::{Reply, Request, Streams};
use super::halves::halves;
use super::tree::Tree;
use crate::{CommandLine, Printed};

/// The process. It ends, with its programs, when the last clone of this and of the programs it started is dropped.
#[derive(Clone, Debug)]
pub struct Supervisor(Arc<Link>);

/// A program that it may start, any number of times.
#[derive(Clone, Debug)]
pub struct Startable {
    supervisor: Supervisor,
    number: usize,
    command: CommandLine,
    streams: Streams,
}

/// A running program.
pub struct Started {
    /// The process and everything that it starts.
    pub tree: Tree,
    /// Its standard input.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its standard output.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
}

impl Supervisor {
    /// Starts it. `program` is our own executable.
    pub fn start(program: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(Link::start(program)?)))
    }

    /// Makes it a copy of this process, which takes a quarter of the time, since nothing is loaded. Call it before
    /// there is another thread: the copy has none, and what that holds would stay locked.
    pub fn fork() -> io::Result<Self> {
        Ok(Self(Arc::new(Link::fork()?)))
    }

    /// Sets the programs that it may start, once; a second time is an error.
    pub fn allow(&self, programs: Vec<CommandLine>) -> io::Result<Vec<Startable>> {
        self.0.ask(&Request::Allow(programs.clone()))?;
        let startable = |(number, command)| Startable {
            supervisor: self.clone(),
            number,
            command,
            streams: Streams::Pipes,
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

    /// The same, but each running program takes one descriptor fewer: its standard input and output are one socket.
    /// Closing only one of them then goes unnoticed.
    #[must_use]
    pub fn over_socket(mut self) -> Self {
        self.streams = Streams::Socket;
        self
    }

    /// Starts it. Its standard error goes to `printed`, which is dropped at the end of it. Must be called within a
    /// tokio runtime, the same one for all programs of a supervisor.
    pub fn start(&self, printed: Printed) -> io::Result<Started> {
        let link = &self.supervisor.0;
        link.hear()?;
        let (number, end) = link.programs.add(printed);
        let request = Request::Start {
            program: self.number,
            number,
            streams: self.streams,
        };
        let asked = link.ask(&request);
        let asked = asked.inspect_err(|_| link.programs.remove(number))?;
        // If anything fails from here on, dropping this ends it.
        let tree = |process| Tree::new(process, number, end, Arc::clone(link));
        Ok(match self.streams {
            Streams::Pipes => {
                let (process, [stdin, stdout]) = asked.started()?;
                let tree = tree(process);
                for stream in [&stdin, &stdout] {
                    // We have no right to do it in another way.
                    ioctl_fionbio(stream, true)?;
                }
                Started {
                    tree,
                    stdin: Box::new(Input::new(stdin)?),
                    stdout: Box::new(pipe::Receiver::from_owned_fd(stdout)?),
                }
            }
            Streams::Socket => {
                let (process, [socket]) = asked.started()?;
                let tree = tree(process);
                let (stdout, stdin) = halves(socket)?;
                Started {
                    tree,
                    stdin: Box::new(stdin),
                    stdout: Box::new(stdout),
                }
            }
        })
    }
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Started")
            .field("tree", &self.tree)
            .finish_non_exhaustive()
    }
}
