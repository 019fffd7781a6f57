//! Our own standard input and output.
//!
//! Their pipes cannot be polled, so they are read and written on another thread.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

pub fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    Ok(Box::new(tokio::io::stdin()))
}

pub fn output() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    Ok(Box::new(tokio::io::stdout()))
}

/// Whether our output has a reader: always `true`, since a closed pipe is noticed only when it is written to.
pub fn is_output_read() -> bool {
    true
}
