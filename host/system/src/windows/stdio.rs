//! Our own standard input and output.
//!
//! Their pipes were not made to be polled: they are read and written on another thread.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

/// Our input.
pub fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    Ok(Box::new(tokio::io::stdin()))
}

/// Our output.
pub fn output() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    Ok(Box::new(tokio::io::stdout()))
}

/// Whether somebody may read our output. That a pipe is closed at the other end shows only when it is written to.
pub fn is_output_read() -> bool {
    true
}
