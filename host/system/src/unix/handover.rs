//! Streams to another process of ours, which serves many at once.
//!
//! Each stream is requested over an existing socket. The other process makes a pair of sockets and sends us one end,
//! which needs no right that we have given up. When that process closes its end, or ends itself, our end sees the end
//! of the stream.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use acp_chain_rpc::Mutex;
use tokio::net::unix::OwnedWriteHalf;

use super::halves::{Input, halves};
use super::passing;
use crate::CommandLine;

/// The data of requests and answers.
const WORD: [u8; 1] = *b"\n";

/// Timeout for an answer, so that a stopped process does not block us forever.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process that accepts streams. It ends when this is dropped.
#[derive(Debug)]
pub struct Taker {
    socket: Mutex<UnixStream>,
    process: Child,
}

impl Taker {
    /// Starts the process, with the other end of the socket as its standard input. `None` if streams cannot be passed.
    pub fn start(command: &CommandLine) -> io::Result<Option<Self>> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let process = command
            .plain()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        let socket = Mutex::new(socket);
        Ok(Some(Self { socket, process }))
    }

    /// A stream to the process: its output, and its input. Must be called within a tokio runtime.
    pub fn open(&self) -> io::Result<(Input, OwnedWriteHalf)> {
        let mut socket = self.socket.lock();
        socket.write_all(&WORD)?;
        let mut received = Vec::new();
        let count = passing::receive(&*socket, &mut [0; WORD.len()], &mut received)?;
        // The process keeps its own copy until then.
        if !received.is_empty() {
            socket.write_all(&WORD)?;
        }
        match received.pop() {
            Some(received) => halves(received),
            None if count == 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            None => Err(io::Error::other(
                "the process has no descriptors left for another stream",
            )),
        }
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The next stream requested from us: our input, and our output. `None` when the requester has disconnected. Blocks, so
/// call it on a separate thread, within a tokio runtime.
pub fn take() -> io::Result<Option<(Input, OwnedWriteHalf)>> {
    take_at(&io::stdin())
}

fn take_at(socket: &impl AsFd) -> io::Result<Option<(Input, OwnedWriteHalf)>> {
    let mut word = [0; WORD.len()];
    loop {
        if rustix::io::read(socket, &mut word)? == 0 {
            return Ok(None);
        }
        let pair = UnixStream::pair().map(|(ours, theirs)| (ours, OwnedFd::from(theirs)));
        let lent: Vec<_> = pair.iter().map(|(_, theirs)| theirs.as_fd()).collect();
        passing::send(socket, &WORD, &lent)?;
        match pair {
            Ok((ours, theirs)) => {
                // macOS may close a socket on its way with our copy of it.
                rustix::io::read(socket, &mut word)?;
                drop(theirs);
                return halves(ours.into()).map(Some);
            }
            // The requester has received an answer without a stream; open streams continue.
            Err(error) => tracing::error!("no more streams can be opened: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn requested_streams_connect_both_processes() {
        let (socket, theirs) = UnixStream::pair().unwrap();
        let taker = Taker {
            socket: Mutex::new(socket),
            process: std::process::Command::new("true").spawn().unwrap(),
        };
        let runtime = tokio::runtime::Handle::current();
        let serve = thread::spawn(move || {
            let _within = runtime.enter();
            let served = [take_at(&theirs), take_at(&theirs)];
            served.map(|served| served.unwrap().unwrap())
        });
        let (mut heard, told) = taker.open().unwrap();
        let _other = taker.open().unwrap();
        let [(mut input, mut output), _] = serve.join().unwrap();
        output.write_all(b"said").await.unwrap();
        drop(output);
        let mut text = String::new();
        heard.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "said");
        drop(told);
        assert_eq!(input.read(&mut [0]).await.unwrap(), 0);
    }
}
