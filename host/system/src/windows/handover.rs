//! Streams that are handed to another process: not done.

use std::convert::Infallible;
use std::io;

use tokio::io::{Empty, Sink};

use crate::CommandLine;

/// There is none.
#[derive(Debug)]
pub struct Taker(Infallible);

impl Taker {
    /// Streams cannot be handed over.
    pub fn start(_: &CommandLine) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// It is never called.
    pub fn open(&self) -> io::Result<(Empty, Sink)> {
        match self.0 {}
    }
}

/// Nobody hands over anything.
pub fn take() -> io::Result<Option<(Empty, Sink)>> {
    Ok(None)
}
