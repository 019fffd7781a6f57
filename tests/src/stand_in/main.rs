//! `stand-in`: a process that a test can kill, and whose part the test plays. It copies its standard
//! input to a socket of the test, and that socket to its standard output. It exits when the test
//! closes the connection.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1);
    let path = path.ok_or_else(|| io::Error::other("the socket's path is missing"))?;
    let socket = UnixStream::connect(path)?;
    let heard = socket.try_clone()?;
    thread::spawn(move || {
        // The test may have closed the connection.
        let _ = copy(io::stdin().lock(), &heard);
        let _ = heard.shutdown(Shutdown::Write);
    });
    copy(&socket, io::stdout().lock())
}

/// Copies, and flushes after each piece.
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
