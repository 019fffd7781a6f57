//! Systems on which chains cannot be watched yet. None of these types is ever constructed.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use acp_chain_trace::{Line, Sink};

/// The output of a chain.
pub type Stream = io::Empty;

/// A socket that others of this user may connect to.
#[derive(Debug)]
pub struct Offer(Infallible);

/// Accepts listeners.
#[derive(Debug)]
pub struct Acceptor(Infallible);

/// A running chain.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its socket.
    pub path: PathBuf,
    /// Its process.
    pub process: u32,
}

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "chains cannot be watched on this system yet",
    )
}

impl Offer {
    pub fn open() -> io::Result<Self> {
        Err(unsupported())
    }

    pub fn connection(&self) -> &str {
        match self.0 {}
    }

    pub fn folder(&self) -> &Path {
        match self.0 {}
    }

    pub fn listener_count(&self) -> Arc<AtomicUsize> {
        match self.0 {}
    }

    pub fn acceptor(&mut self) -> Option<Acceptor> {
        match self.0 {}
    }
}

impl Acceptor {
    pub fn keep(self, _: impl Fn()) {
        match self.0 {}
    }
}

impl Sink for Offer {
    fn write(&mut self, _: &[Line]) -> io::Result<()> {
        match self.0 {}
    }
}

impl Found {
    /// Fails: there is nothing to connect to.
    ///
    /// # Errors
    /// Always.
    pub fn connect(&self) -> io::Result<Stream> {
        Err(unsupported())
    }
}

/// Fails: chains cannot be watched here.
///
/// # Errors
/// Always.
pub fn chains() -> io::Result<Vec<Found>> {
    Err(unsupported())
}
