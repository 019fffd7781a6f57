//! The protocol between the host and its supervisor, in lines of JSON: requests, of which all but `End`, `Watch` and
//! `Received` have an answer that may carry descriptors; and, in the other direction over another socket, events about
//! programs.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use acp_chain_rpc::json_lines::line;
use serde::{Deserialize, Serialize};

use super::super::passing;
use crate::{CommandLine, Descent};

/// The maximum length of an answer, in bytes.
const ANSWER: usize = 16 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Allow these programs, and that many connections at once; an error the second time.
    Allow {
        programs: Vec<CommandLine>,
        connections: usize,
    },
    /// Start an allowed program, given by its index.
    Start {
        program: usize,
        /// Identifies it in events and for its end.
        number: u64,
        streams: Streams,
        /// The value of [`HOOK_TOKEN`](crate::HOOK_TOKEN) in its environment.
        hook_token: Option<String>,
    },
    /// Open a socket whose path contains this text. After `Allow`, each connection can have one.
    Socket(String),
    /// Open a port on the loopback interface. After `Allow`, each connection can have one.
    Port,
    /// Tell how a process is related to the running program with this token for hooks.
    Descent {
        hook_token: String,
        process: u32,
        /// What [`has_command`](crate::Ancestor::has_command) is about.
        command: String,
    },
    /// End the program with this number. Has no answer.
    End(u64),
    /// End all programs unless another one of these arrives within this time, in milliseconds; `None`: no longer. Has
    /// no answer.
    Watch(Option<u64>),
    /// The descriptors of the last answer have arrived: the supervisor closes its own. Has no answer.
    Received,
}

/// A program's standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Streams {
    /// Two pipes.
    Pipes,
    /// One socket for both directions.
    Socket,
}

/// An event about a program, given by its number.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    /// The program has ended, with this status.
    Ended(u64, i32),
    /// Bytes from its standard error, in base64.
    Printed(u64, String),
    /// Its standard error has ended.
    Silent(u64),
}

/// The result of a request.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    Allowed,
    /// The id of the process, sent with its standard input and output, or with the socket that is both.
    Started(u32),
    /// The socket's path, sent with the socket and its lifeline.
    Socket(OsString),
    /// Sent with the listener and its lifeline.
    Port,
    Descent(Descent),
    Failed {
        /// The system's error code, if it is a system error.
        code: Option<i32>,
        text: String,
    },
}

impl From<io::Error> for Reply {
    fn from(error: io::Error) -> Self {
        Self::Failed {
            code: error.raw_os_error(),
            text: error.to_string(),
        }
    }
}

#[derive(Debug)]
pub struct ReceivedReply {
    reply: Reply,
    descriptors: Vec<OwnedFd>,
}

impl ReceivedReply {
    /// The answer, and the descriptors for its kind.
    pub fn parts<const N: usize>(self) -> io::Result<(Reply, [OwnedFd; N])> {
        let descriptors = self.descriptors.try_into();
        Ok((self.reply, descriptors.map_err(|_| mismatch())?))
    }

    /// The id of the started process, and the descriptors of its streams.
    pub fn started<const N: usize>(self) -> io::Result<(u32, [OwnedFd; N])> {
        match self.parts()? {
            (Reply::Started(process), descriptors) => Ok((process, descriptors)),
            _ => Err(mismatch()),
        }
    }
}

/// An answer that does not match its request.
pub fn mismatch() -> io::Error {
    io::Error::other("the supervisor's answer does not match the request")
}

/// Sends a request and waits for the answer. [`Reply::Failed`] is returned as an error.
pub fn ask(socket: &mut UnixStream, request: &Request) -> io::Result<ReceivedReply> {
    say(socket, request)?;
    let received = receive(socket).map_err(disconnected)?;
    if !received.descriptors.is_empty() {
        say(socket, &Request::Received)?;
    }
    match received.reply {
        Reply::Failed {
            code: Some(code), ..
        } => Err(io::Error::from_raw_os_error(code)),
        Reply::Failed { text, .. } => Err(io::Error::other(text)),
        _ => Ok(received),
    }
}

/// Sends a request without an answer.
pub fn say(socket: &mut UnixStream, request: &Request) -> io::Result<()> {
    socket.write_all(&line(request)?).map_err(disconnected)
}

fn disconnected(error: io::Error) -> io::Error {
    let why = format!("the supervisor, `acp-chain supervise`, does not answer: {error}");
    io::Error::new(io::ErrorKind::BrokenPipe, why)
}

fn receive(socket: &UnixStream) -> io::Result<ReceivedReply> {
    let mut text = Vec::new();
    let mut descriptors = Vec::new();
    while text.last() != Some(&b'\n') {
        let mut bytes = [0; 1024];
        let count = passing::receive(socket, &mut bytes, &mut descriptors)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        text.extend_from_slice(&bytes[..count]);
        if text.len() > ANSWER {
            return Err(mismatch());
        }
    }
    let reply = serde_json::from_slice(&text)?;
    Ok(ReceivedReply { reply, descriptors })
}

/// Sends an answer.
pub fn answer(socket: impl AsFd, reply: &Reply, descriptors: &[BorrowedFd]) -> io::Result<()> {
    let line = line(reply)?;
    // The answer is short, and the socket's buffer is empty: it is sent as a whole.
    if passing::send(socket, &line, descriptors)? == line.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}
