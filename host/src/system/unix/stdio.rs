//! Our own standard input and output.
//!
//! Pipes and sockets are polled in place. Files and terminals, which cannot be, are read and
//! written on another thread.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::fs::FileType;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// What we are told.
pub fn input() -> std::io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let fd = std::io::stdin().as_fd().try_clone_to_owned()?;
    Ok(match kind(&fd)? {
        FileType::Fifo => Box::new(pipe::Receiver::from_owned_fd(fd)?),
        FileType::Socket => Box::new(socket(fd)?),
        _ => Box::new(tokio::fs::File::from_std(File::from(fd))),
    })
}

/// What we say.
pub fn output() -> std::io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    let fd = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match kind(&fd)? {
        FileType::Fifo => Box::new(pipe::Sender::from_owned_fd(fd)?),
        FileType::Socket => Box::new(socket(fd)?),
        _ => Box::new(tokio::fs::File::from_std(File::from(fd))),
    })
}

fn kind(fd: &OwnedFd) -> std::io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

fn socket(fd: OwnedFd) -> std::io::Result<tokio::net::UnixStream> {
    let socket = UnixStream::from(fd);
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}
