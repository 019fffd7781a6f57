//! Descriptors that are passed to another process over a socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The maximum number of descriptors that are passed at once.
const MOST: usize = 2;

/// Sends bytes with descriptors. Returns how many bytes were sent. (Programs in Rust ignore SIGPIPE.)
pub fn send(socket: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let parts = [IoSlice::new(bytes)];
    Ok(sendmsg(socket, &parts, &mut ancillary, SendFlags::empty())?)
}

/// Receives bytes, and the descriptors that come with them, which programs that we start do not inherit. Returns how
/// many bytes were received; 0 if the other end is closed.
pub fn receive(
    socket: impl AsFd,
    bytes: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(bytes)];
    let count = recvmsg(socket, &mut parts, &mut ancillary, RecvFlags::empty())?.bytes;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            for descriptor in received {
                fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
                descriptors.push(descriptor);
            }
        }
    }
    Ok(count)
}
