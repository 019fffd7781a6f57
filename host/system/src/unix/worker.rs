//! Another process of ours that works for this one, over a socket.
//!
//! The socket needs no right that we have given up since.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};

use tokio::net::unix::OwnedWriteHalf;

use super::halves::{Input, halves};

/// A running process, whose standard input and output are one socket. It is not waited for: it must end by itself when
/// its input ends.
#[derive(Debug)]
pub struct Worker {
    socket: UnixStream,
    _process: Child,
}

impl Worker {
    /// Starts the process, and writes the beginning of its input. Blocks until the process has read most of that.
    pub fn start(mut command: Command, beginning: &[u8]) -> io::Result<Self> {
        let (mut socket, theirs) = UnixStream::pair()?;
        let theirs = OwnedFd::from(theirs);
        let output = theirs.try_clone()?;
        let process = command.stdin(theirs).stdout(output).spawn()?;
        // The command has the other end, too: if the process ends now, writing must fail.
        drop(command);
        socket.write_all(beginning)?;
        Ok(Self {
            socket,
            _process: process,
        })
    }

    /// The output of the process, and the rest of its input. Must be called within a tokio runtime; we may have given
    /// up our rights.
    pub fn streams(self) -> io::Result<(Input, OwnedWriteHalf)> {
        halves(self.socket.into())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_process_gets_the_beginning_and_the_rest_and_the_end_of_its_input() {
        let worker = Worker::start(Command::new("cat"), b"one ").unwrap();
        let (mut output, mut input) = worker.streams().unwrap();
        input.write_all(b"two").await.unwrap();
        input.shutdown().await.unwrap();
        let mut text = String::new();
        output.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "one two");
    }

    #[test]
    fn a_process_that_does_not_read_is_an_error() {
        let beginning = vec![b' '; 16 << 20];
        assert!(Worker::start(Command::new("true"), &beginning).is_err());
        assert!(Worker::start(Command::new("/no/such/program"), b"").is_err());
    }
}
