//! Where the lines of a connection go while it runs.

use std::io;

use crate::Line;

/// Takes what happens in one connection. One thread calls it, in the order in which it happened, and no message of the
/// chain waits for it.
pub trait Sink: Send {
    /// Takes lines, the first of all of which is the one that says that the connection begins. The user is told of an
    /// error, and the sink gets nothing any more.
    ///
    /// # Errors
    ///
    /// When nothing can be taken any more.
    fn write(&mut self, lines: &[Line]) -> io::Result<()>;

    /// Somebody waits for all that was taken to be where it goes, nothing more has come for a while, or the connection is
    /// over.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
