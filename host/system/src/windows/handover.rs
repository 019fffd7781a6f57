//! Passing streams to another process: not implemented.

use std::convert::Infallible;
use std::io;

use tokio::io::{Empty, Sink};

use crate::CommandLine;

/// There is none.
#[derive(Debug)]
pub struct Taker(Infallible);

impl Taker {
    /// Streams cannot be passed.
    pub fn start(_: &CommandLine) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// It is never called.
    pub fn open(&self) -> io::Result<(Empty, Sink)> {
        match self.0 {}
    }
}

/// Nobody passes anything.
pub fn take() -> io::Result<Option<(Empty, Sink)>> {
    Ok(None)
}
