//! Our own standard input and output.
//!
//! They are read and written on the calling thread, since another thread would keep the rights that this one gives up
//! (`rights`). Pipes and sockets do not block; terminals are polled first; files and devices like `/dev/null` are
//! always ready.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::unix::pipe;

use super::halves::stream;
use super::pipes;

/// A poll that does not wait.
const NOW: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// The size of a write to a terminal, in bytes. A writable terminal accepts that much without blocking.
const AT_ONCE: usize = 1024;

pub fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let fd = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(match kind(&fd)? {
        FileType::Fifo => {
            pipes::widen(&fd);
            Box::new(pipe::Receiver::from_owned_fd(fd)?)
        }
        FileType::Socket => Box::new(stream(fd)?),
        _ => Box::new(BlockingFile::new(fd, Interest::READABLE)),
    })
}

#[expect(clippy::disallowed_methods, reason = "programs read it")]
pub fn output() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    let fd = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match kind(&fd)? {
        FileType::Fifo => {
            pipes::widen(&fd);
            Box::new(pipe::Sender::from_owned_fd(fd)?)
        }
        FileType::Socket => Box::new(stream(fd)?),
        _ => Box::new(BlockingFile::new(fd, Interest::WRITABLE)),
    })
}

/// Whether our output has a reader: the other end of the pipe, socket or terminal is not closed.
#[expect(clippy::disallowed_methods, reason = "programs read it")]
pub fn is_output_read() -> bool {
    let stdout = io::stdout();
    // Without an event that is asked for, macOS reports no end.
    let mut output = [PollFd::new(&stdout, PollFlags::OUT)];
    let polled = poll(&mut output, Some(&NOW)).is_ok();
    polled
        && !output[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::HUP)
}

fn kind(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

/// A file, device or terminal. It stays in blocking mode, which is shared with other processes that have it open.
enum BlockingFile {
    /// The system reports readiness.
    Polled(AsyncFd<File>),
    /// It is always ready.
    Ready(File),
}

impl BlockingFile {
    fn new(fd: OwnedFd, interest: Interest) -> Self {
        #[expect(
            deprecated,
            reason = "what is newer is unsafe to call, for the sake of types that are no `File`"
        )]
        let registered = AsyncFd::try_with_interest(File::from(fd), interest);
        match registered {
            Ok(polled) => Self::Polled(polled),
            Err(error) => Self::Ready(error.into_parts().0),
        }
    }
}

impl AsyncRead for BlockingFile {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let read = match &mut *self {
            Self::Ready(file) => file.read(buffer.initialize_unfilled()),
            Self::Polled(polled) => loop {
                let mut guard = ready!(polled.poll_read_ready_mut(context))?;
                if is_ready(guard.get_inner(), PollFlags::IN)? {
                    break guard.get_inner_mut().read(buffer.initialize_unfilled());
                }
                guard.clear_ready();
            },
        };
        Poll::Ready(read.map(|count| buffer.advance(count)))
    }
}

impl AsyncWrite for BlockingFile {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(match &mut *self {
            Self::Ready(file) => file.write(bytes),
            Self::Polled(polled) => loop {
                let mut guard = ready!(polled.poll_write_ready_mut(context))?;
                if is_ready(guard.get_inner(), PollFlags::OUT)? {
                    let bytes = &bytes[..bytes.len().min(AT_ONCE)];
                    break guard.get_inner_mut().write(bytes);
                }
                guard.clear_ready();
            },
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Whether a file can be read or written now, or is at its end.
fn is_ready(file: &File, wanted: PollFlags) -> io::Result<bool> {
    Ok(poll(&mut [PollFd::new(file, wanted)], Some(&NOW))? > 0)
}
