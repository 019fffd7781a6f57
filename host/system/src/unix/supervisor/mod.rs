//! A process of our own that starts programs and opens sockets for us after we have given up the right to.
//!
//! It starts only programs that were allowed at the beginning, each as a process group. Their environment is fixed,
//! too, but for the [token](crate::HOOK_TOKEN) of an agent's hooks. Of other processes it tells us only whether such an
//! agent has started them, and little more. We get the result as descriptors, as few as
//! possible, since a server has thousands of programs. A program is ended on our request, and when our process ends,
//! for whatever reason.
//!
//! Ending is gentle at first: only the program itself receives SIGTERM, so that it can end its children; then the rest
//! of its group has a second, as the program may be only a launcher, like npm; then the group is killed.
//!
//! A host may have its programs ended as well when it says nothing for a while: one that is stopped (SIGSTOP) has none
//! when it goes on.
//!
//! | file | what it is |
//! |---|---|
//! | `mod` | the host's side |
//! | `input` | a program's standard input |
//! | `link` | the supervisor's process, and the connection to it |
//! | `programs` | the running programs, and the events about them |
//! | `service` | the supervisor itself: `acp-chain supervise`, or a fork of the host |
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
use std::time::Duration;

use rustix::io::ioctl_fionbio;
use tokio::net::unix::pipe;

pub use self::service::main;

use self::input::Input;
use self::link::Link;
use self::wire::{Reply, Request, Streams};
use super::descent;
use super::halves::halves;
use super::tree::Tree;
use crate::{CommandLine, Descent, StartedProgram, StderrCallback};

/// The supervisor's process. It ends, with its programs, when the last clone of this and the last started program are
/// dropped.
#[derive(Clone, Debug)]
pub struct Supervisor(Arc<Link>);

/// An allowed program. It can be started any number of times.
#[derive(Clone, Debug)]
pub struct Startable {
    supervisor: Supervisor,
    number: usize,
    command: CommandLine,
    streams: Streams,
    hook_token: Option<String>,
}

impl Supervisor {
    /// Whether [`descent`](Self::descent) tells anything on this system.
    pub const KNOWS_DESCENT: bool = descent::IS_KNOWN;

    /// Starts the supervisor. `program` is our own executable.
    pub fn start(program: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(Link::start(program)?)))
    }

    /// Forks this process, which takes a quarter of the time, since nothing is loaded. Call it before there is another
    /// thread: the fork does not have it, and locks that the thread holds would never be released.
    pub fn fork() -> io::Result<Self> {
        Ok(Self(Arc::new(Link::fork()?)))
    }

    /// Sets the programs that can be started, and how many connections the host serves at once: each can have a socket
    /// and a port. A second call is an error.
    pub fn allow(
        &self,
        programs: Vec<CommandLine>,
        connections: usize,
    ) -> io::Result<Vec<Startable>> {
        self.0.ask(&Request::Allow {
            programs: programs.clone(),
            connections,
        })?;
        let startable = |(number, command)| Startable {
            supervisor: self.clone(),
            number,
            command,
            streams: Streams::Pipes,
            hook_token: None,
        };
        Ok(programs.into_iter().enumerate().map(startable).collect())
    }

    /// Has all programs ended unless this is called again within this time; with `None`, no longer.
    pub fn watch(&self, within: Option<Duration>) {
        let within = within.map(|within| u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        self.0.watch(within);
    }

    /// Opens a socket for programs of our user, at an address that contains `random`. Returns its path, the socket, and
    /// its lifeline.
    pub(super) fn socket(&self, random: &str) -> io::Result<(PathBuf, UnixListener, UnixStream)> {
        let asked = self.0.ask(&Request::Socket(random.to_owned()))?;
        let (Reply::Socket(path), [socket, life]) = asked.parts()? else {
            return Err(wire::mismatch());
        };
        Ok((path.into(), socket.into(), life.into()))
    }

    /// Opens a port on the loopback interface. Returns it, and its lifeline.
    pub(super) fn port(&self) -> io::Result<(TcpListener, UnixStream)> {
        let (Reply::Port, [port, life]) = self.0.ask(&Request::Port)?.parts()? else {
            return Err(wire::mismatch());
        };
        Ok((port.into(), life.into()))
    }

    /// How the process with this id is related to the running program with this token for hooks.
    /// [`has_command`](crate::Ancestor::has_command) is about `command`.
    pub fn descent(&self, hook_token: &str, process: u32, command: &str) -> io::Result<Descent> {
        let request = Request::Descent {
            hook_token: hook_token.to_owned(),
            process,
            command: command.to_owned(),
        };
        let (Reply::Descent(descent), []) = self.0.ask(&request)?.parts()? else {
            return Err(wire::mismatch());
        };
        Ok(descent)
    }
}

impl Startable {
    pub fn command(&self) -> &CommandLine {
        &self.command
    }

    /// Uses one socket for both standard input and output, which saves a descriptor per running program. Closing only
    /// one of the two then has no effect.
    #[must_use]
    pub fn over_socket(mut self) -> Self {
        self.streams = Streams::Socket;
        self
    }

    /// Adds a token for the hooks of the agent that this is, if there is one, to the environment. It has at most 64
    /// characters, of base64url.
    #[must_use]
    pub fn with_hook_token(mut self, token: Option<String>) -> Self {
        self.hook_token = token;
        self
    }

    /// Starts the program. `printed` receives its standard error, and is dropped when that ends. Must be called within
    /// a tokio runtime, the same one for all programs of a supervisor.
    pub fn start(&self, printed: StderrCallback) -> io::Result<StartedProgram> {
        let link = &self.supervisor.0;
        link.read_events()?;
        let (number, end) = link.programs.add(printed);
        let request = Request::Start {
            program: self.number,
            number,
            streams: self.streams,
            hook_token: self.hook_token.clone(),
        };
        let asked = link.ask(&request);
        let asked = asked.inspect_err(|_| link.programs.remove(number))?;
        // If anything fails from here on, dropping the tree ends the program.
        let tree = |process| Tree::new(process, number, end, Arc::clone(link));
        Ok(match self.streams {
            Streams::Pipes => {
                let (process, [stdin, stdout]) = asked.started()?;
                let tree = tree(process);
                for stream in [&stdin, &stdout] {
                    // `fcntl` with F_SETFL is no longer allowed.
                    ioctl_fionbio(stream, true)?;
                }
                StartedProgram {
                    tree,
                    stdin: Box::new(Input::new(stdin)?),
                    stdout: Box::new(pipe::Receiver::from_owned_fd(stdout)?),
                }
            }
            Streams::Socket => {
                let (process, [socket]) = asked.started()?;
                let tree = tree(process);
                let (stdout, stdin) = halves(socket)?;
                StartedProgram {
                    tree,
                    stdin: Box::new(stdin),
                    stdout: Box::new(stdout),
                }
            }
        })
    }
}
