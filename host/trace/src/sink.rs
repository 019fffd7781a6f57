//! The receivers of a running connection's lines.

use std::io;

use crate::Line;

/// Receives the events of all connections of a process. One thread calls it, in the order of the events, and no message
/// of a chain waits for it.
pub trait Sink: Send {
    /// Takes lines. The first of each connection is its beginning, and the last its end. After an error, the user is
    /// told of it, and the sink gets nothing more.
    ///
    /// # Errors
    ///
    /// If no more lines can be taken.
    fn write(&mut self, lines: &[Line]) -> io::Result<()>;

    /// Whether it gets changes of the proxies' memory, at most once a second.
    fn looks(&self) -> bool {
        false
    }

    /// A connection has been quiet for a while.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn rest(&mut self, _connection: &str) -> io::Result<()> {
        Ok(())
    }

    /// Waits until all taken lines have reached their destination: the process is about to end.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
