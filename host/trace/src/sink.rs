//! The receivers of a running connection's lines.

use std::io;

use crate::Line;

/// Receives the events of all connections of a process. One thread calls it, in the order of the events, and no message
/// of a chain waits for it.
pub trait Sink: Send {
    /// Receives lines. A connection's first line is its beginning, and its last line its end. An error is reported to
    /// the user, and the sink receives nothing more.
    ///
    /// # Errors
    ///
    /// If no more lines can be taken.
    fn write(&mut self, lines: &[Line]) -> io::Result<()>;

    /// Whether it receives changes of the proxies' memory, at most once a second.
    fn looks(&self) -> bool {
        false
    }

    /// Called when a connection has had no events for a while.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn rest(&mut self, _connection: &str) -> io::Result<()> {
        Ok(())
    }

    /// Waits until all lines have reached their destination. Called before the process ends.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
