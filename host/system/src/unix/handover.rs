//! Passing streams to another process of ours, which serves many at once.
//!
//! For each pair two pipes are made, which needs no right that a process gives up, and one end of each goes to the
//! other process over an existing socket. When that process closes an end, or ends itself, our end sees the end of the
//! stream.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use rustix::cmsg_space;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::CommandLine;

/// The data sent with each pair.
const WORD: [u8; 1] = *b"\n";

/// A process that accepts streams. It ends when this is dropped.
#[derive(Debug)]
pub struct Taker {
    socket: UnixStream,
    process: Child,
}

impl Taker {
    /// Starts it, with the other end as its standard input. None if streams cannot be passed.
    pub fn start(command: &CommandLine) -> io::Result<Option<Self>> {
        let (socket, theirs) = UnixStream::pair()?;
        let process = command
            .plain()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Some(Self { socket, process }))
    }

    /// Passes it the other ends of these: its output, and its input. Call it within a tokio runtime.
    pub fn open(&self) -> io::Result<(Receiver, Sender)> {
        let ((output, theirs_out), (theirs_in, input)) = (pipe()?, pipe()?);
        let descriptors = [theirs_in.as_fd(), theirs_out.as_fd()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // Programs in Rust ignore SIGPIPE.
        let flags = SendFlags::empty();
        sendmsg(&self.socket, &[IoSlice::new(&WORD)], &mut ancillary, flags)?;
        Ok((
            Receiver::from_owned_fd(output)?,
            Sender::from_owned_fd(input)?,
        ))
    }
}

/// The end to read from, and the one to write to.
#[cfg(target_os = "linux")]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::pipe::{PipeFlags, pipe_with};

    // From the start, since a process that has given up its rights may not change it later.
    Ok(pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?)
}

/// The end to read from, and the one to write to.
#[cfg(not(target_os = "linux"))]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

impl Drop for Taker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The next pair passed to us: our input, and our output. None once the sender is gone. It blocks, so call it on a
/// separate thread, within a tokio runtime.
pub fn take() -> io::Result<Option<(Receiver, Sender)>> {
    let socket = io::stdin();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut word = [0; WORD.len()];
    let mut parts = [IoSliceMut::new(&mut word)];
    let count = recvmsg(&socket, &mut parts, &mut ancillary, RecvFlags::empty())?.bytes;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    if count == 0 {
        return Ok(None);
    }
    for descriptor in &descriptors {
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    }
    let pair: Result<[OwnedFd; 2], _> = descriptors.try_into();
    let [input, output] = pair.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Some((
        Receiver::from_owned_fd(input)?,
        Sender::from_owned_fd(output)?,
    )))
}
