//! A connection to a program of the same user, for programs that wait for nothing else.
//!
//! This file uses only the standard library, since the client of agents' hooks is compiled from it alone.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Connects to a listener: its folder admits only our user.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}
