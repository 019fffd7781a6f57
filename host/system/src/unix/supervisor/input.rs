//! The standard input of a started program.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::ioctl_fionread;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncWrite, Interest};
use tokio::net::unix::pipe;

/// The input of a program.
///
/// Data in a pipe whose reader is closed is lost, and only the next write would fail. Flushing this fails too, and
/// pending flushes are woken when the reader is closed.
#[derive(Debug)]
pub struct Input {
    pipe: pipe::Sender,
    /// A copy of the pipe's descriptor, to wait until its reader is closed.
    reader: AsyncFd<File>,
}

impl Input {
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        let reader = File::from(pipe.try_clone()?);
        #[expect(
            deprecated,
            reason = "what is newer is unsafe to call, for the sake of types that are no `File`"
        )]
        let reader = AsyncFd::with_interest(reader, Interest::WRITABLE)?;
        let pipe = pipe::Sender::from_owned_fd(pipe)?;
        Ok(Self { pipe, reader })
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.pipe.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        loop {
            let Poll::Ready(readiness) = self.reader.poll_write_ready(context) else {
                return Poll::Ready(Ok(()));
            };
            let mut readiness = readiness?;
            if !readiness.ready().is_write_closed() {
                readiness.clear_ready();
                continue;
            }
            // A program that has read everything may still answer.
            let unread = ioctl_fionread(self.reader.as_fd()).unwrap_or(0);
            return Poll::Ready(match unread {
                0 => Ok(()),
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            });
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Pin::new(&mut self.pipe).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tokio::io::AsyncWriteExt;

    use super::*;

    fn pipe() -> (std::io::PipeReader, Input) {
        let (reader, writer) = std::io::pipe().unwrap();
        let writer = OwnedFd::from(writer);
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        (reader, Input::new(writer).unwrap())
    }

    async fn closed(input: &mut Input) -> io::Error {
        std::future::poll_fn(|context| match Pin::new(&mut *input).poll_flush(context) {
            Poll::Ready(Err(error)) => Poll::Ready(error),
            _ => Poll::Pending,
        })
        .await
    }

    /// Waits until the last copy of the reader is closed: another test may have forked, and its child has a copy until
    /// it executes its program.
    async fn hung_up(input: &Input) {
        loop {
            let mut readiness = input.reader.writable().await.unwrap();
            if readiness.ready().is_write_closed() {
                return;
            }
            readiness.clear_ready();
        }
    }

    #[tokio::test]
    async fn a_flush_fails_if_the_reader_closes_without_reading_everything() {
        let (reader, mut input) = pipe();
        input.write_all(b"lost").await.unwrap();
        input.flush().await.unwrap();
        let (error, ()) = tokio::join!(closed(&mut input), async { drop(reader) });
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn a_flush_succeeds_if_the_reader_closes_after_reading_everything() {
        let (mut reader, mut input) = pipe();
        input.write_all(b"read").await.unwrap();
        reader.read_exact(&mut [0; 4]).unwrap();
        drop(reader);
        input.flush().await.unwrap();
        hung_up(&input).await;
        let error = input.write_all(b"more").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
