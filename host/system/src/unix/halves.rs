//! A socket, split into two streams.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::ioctl_fionbio;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The input of a socket. It also ends if the other end closed without reading everything, as a pipe would.
#[derive(Debug)]
pub struct Heard(OwnedReadHalf);

/// The input and the output: the other end sees the end of the stream when the output is dropped. Must be called
/// within a tokio runtime.
pub fn halves(socket: OwnedFd) -> io::Result<(Heard, OwnedWriteHalf)> {
    // A process that has given up its rights may not do it in another way.
    ioctl_fionbio(&socket, true)?;
    let socket = UnixStream::from_std(socket.into())?;
    let (heard, told) = socket.into_split();
    Ok((Heard(heard), told))
}

impl AsyncRead for Heard {
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
    async fn what_was_said_is_heard_also_of_who_went_without_what_it_was_told() {
        let (ours, mut theirs) = StdStream::pair().unwrap();
        let (mut heard, mut told) = halves(ours.into()).unwrap();
        told.write_all(b"unread").await.unwrap();
        theirs.write_all(b"last words").unwrap();
        drop(theirs);
        let mut text = String::new();
        heard.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "last words");
        let error = told.write_all(b"more").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
