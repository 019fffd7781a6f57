//! A socket as a stream, or split into two.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::ioctl_fionbio;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The input of a socket. It also ends, like a pipe's, if the other end closes without reading everything.
#[derive(Debug)]
pub struct Input(OwnedReadHalf);

/// A socket as a stream. Must be called within a tokio runtime.
pub fn stream(socket: OwnedFd) -> io::Result<UnixStream> {
    // `fcntl` with F_SETFL is not allowed in a process that has given up its rights.
    ioctl_fionbio(&socket, true)?;
    UnixStream::from_std(socket.into())
}

/// Splits a socket into its input and its output. Dropping the output ends the stream for the other end. Must be called
/// within a tokio runtime.
pub fn halves(socket: OwnedFd) -> io::Result<(Input, OwnedWriteHalf)> {
    let (input, output) = stream(socket)?.into_split();
    Ok((Input(input), output))
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        into: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.0).poll_read(context, into)) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Poll::Ready(Ok(())),
            read => Poll::Ready(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream as StdStream;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn data_of_a_peer_that_closed_without_reading_everything_is_received() {
        let (ours, mut theirs) = StdStream::pair().unwrap();
        let (mut input, mut output) = halves(ours.into()).unwrap();
        output.write_all(b"unread").await.unwrap();
        theirs.write_all(b"last words").unwrap();
        drop(theirs);
        let mut text = String::new();
        input.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "last words");
        let error = output.write_all(b"more").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
