//! `stand-in`: a process that a test can kill, in whose place the test speaks. What comes in on its
//! standard input goes to a socket of the test's, and what comes from there to its standard output.
//! It ends when the test ends the connection.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1);
    let path = path.ok_or_else(|| io::Error::other("it needs the path of a socket"))?;
    let socket = UnixStream::connect(path)?;
    let heard = socket.try_clone()?;
    thread::spawn(move || {
        // Whoever is gone hears nothing.
        let _ = copy(io::stdin().lock(), &heard);
        let _ = heard.shutdown(Shutdown::Write);
    });
    copy(&socket, io::stdout().lock())
}

/// Copies, and keeps nothing back.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut piece = [0; 1 << 14];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            count => to.write_all(&piece[..count])?,
        }
        to.flush()?;
    }
}
