//! Passing streams to another process: not supported.

use std::convert::Infallible;
use std::io;

use tokio::io::{Empty, Sink};

use crate::CommandLine;

/// Never exists.
#[derive(Debug)]
pub struct Taker(Infallible);

impl Taker {
    /// Always `None`: streams cannot be passed.
    pub fn start(_: &CommandLine) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Never called.
    pub fn open(&self) -> io::Result<(Empty, Sink)> {
        match self.0 {}
    }
}

/// Always `None`: no process passes streams.
pub fn take() -> io::Result<Option<(Empty, Sink)>> {
    Ok(None)
}
