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
/// Data in a pipe whose reader is gone is lost, and the writer learns that at the next write, if there is one. Flushing
/// this learns it too, and wakes the flusher when it happens.
#[derive(Debug)]
pub struct Input {
    pipe: pipe::Sender,
    /// The same pipe, only to wait for the end of its reader.
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
            // It may still answer what it has read.
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

    async fn gone(input: &mut Input) -> io::Error {
        std::future::poll_fn(|context| match Pin::new(&mut *input).poll_flush(context) {
            Poll::Ready(Err(error)) => Poll::Ready(error),
            _ => Poll::Pending,
        })
        .await
    }

    /// Waits for the end of the last copy of the reader: another test may have forked, and its child has one until it runs
    /// its program.
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
    async fn who_flushed_hears_that_the_reader_has_gone_without_what_was_written() {
        let (reader, mut input) = pipe();
        input.write_all(b"lost").await.unwrap();
        input.flush().await.unwrap();
        let (error, ()) = tokio::join!(gone(&mut input), async { drop(reader) });
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn a_reader_that_has_read_all_may_go() {
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
