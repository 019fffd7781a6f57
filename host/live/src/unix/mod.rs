//! Linux and macOS.

mod find;
mod listeners;
mod offer;
mod place;
#[cfg(test)]
mod tests;

use std::io;
use std::os::unix::net::UnixStream;

pub use self::find::{Found, chains};
pub use self::offer::{Acceptor, Offer};

/// The output of a chain.
pub type Stream = UnixStream;

/// Whether our user is at the other end.
fn is_ours(stream: &UnixStream) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    let user = rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw();
    #[cfg(not(target_os = "linux"))]
    let user = nix::unistd::getpeereid(stream)?.0.as_raw();
    Ok(user == rustix::process::geteuid().as_raw())
}
