//! Where texts for the user go.

use std::fmt::Arguments;

/// The standard streams, as the user reads them. An implementation takes out what could steer a terminal: texts may have
/// parts from outside.
pub trait Screen: Sync {
    /// Writes to standard output at once.
    fn put(&self, text: Arguments<'_>);

    /// Writes a line to standard error.
    fn tell(&self, line: Arguments<'_>);

    /// Whether standard output is a terminal.
    fn is_terminal(&self) -> bool;

    /// Writes a line to standard output.
    fn say(&self, line: Arguments<'_>) {
        self.put(format_args!("{line}\n"));
    }
}

/// Shows nothing, for tests.
#[cfg(test)]
pub struct Blank;

#[cfg(test)]
impl Screen for Blank {
    fn put(&self, _text: Arguments<'_>) {}

    fn tell(&self, _line: Arguments<'_>) {}

    fn is_terminal(&self) -> bool {
        false
    }
}
