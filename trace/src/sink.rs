//! Where the lines of a connection go while it runs.

use std::io;

use crate::Line;

/// Receives the events in the connections of a process. One thread calls it, in the order of the events, and no message
/// of a chain waits for it.
pub trait Sink: Send {
    /// Takes lines. Of each connection, the first is the one that says that it begins, and the last that it is over.
    /// The user is told of an error, and the sink gets nothing any more.
    ///
    /// # Errors
    ///
    /// When nothing can be taken any more.
    fn write(&mut self, lines: &[Line]) -> io::Result<()>;

    /// Whether it is told how much memory proxies have, as that changes, at most once a second.
    fn looks(&self) -> bool {
        false
    }

    /// Nothing more has come of a connection for a while.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn rest(&mut self, _connection: &str) -> io::Result<()> {
        Ok(())
    }

    /// Somebody waits for all that was taken to be where it goes: the process ends.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
