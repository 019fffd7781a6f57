//! The one way out to the terminal. Whatever is in a text, and whoever forgot it there: it has no control characters but
//! line feeds, tabs and our own colours, changes no direction, and hides nothing.
//!
//! Messages and documents for programs, such as those of `acp-chain watch-keys`, do not go this way.

use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use crate::untrusted::plain;

/// Prints a line.
macro_rules! say {
    ($($words:tt)*) => {{
        $crate::cli::out::say(format_args!($($words)*));
    }};
}

/// Prints the beginning of a line, or more of it, at once.
macro_rules! put {
    ($($words:tt)*) => {
        $crate::cli::out::put(format_args!($($words)*))
    };
}

/// Prints a line to standard error.
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::cli::out::tell(format_args!($($words)*))
    };
}

/// Why standard output could not be written, the first time.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// Prints a line; false if nobody reads it.
pub fn say(words: Arguments) -> bool {
    keep(output(), &format!("{words}\n"))
}

/// Prints this at once.
pub fn put(words: Arguments) {
    keep(output(), &words.to_string());
}

/// Prints a whole document.
pub fn print_all(text: &[u8]) {
    keep(output(), &String::from_utf8_lossy(text));
}

/// Prints a line to standard error.
pub fn tell(words: Arguments) {
    write(format_args!("{words}\n"));
}

/// Prints this to standard error.
pub fn write(words: Arguments) {
    // Nobody may read it.
    let _ = errors().write_all(plain(&words.to_string()).as_bytes());
}

/// Why something was not printed to standard output that should be.
pub fn unwritten() -> Option<&'static io::Error> {
    UNWRITTEN.get()
}

/// The reader may stop before the end, as `head` does; a full disk is an error, with which the program ends.
fn keep(mut out: impl Write, text: &str) -> bool {
    let written = out
        .write_all(plain(text).as_bytes())
        .and_then(|()| out.flush());
    let goes_on = written.is_ok();
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // The first one counts.
        let _ = UNWRITTEN.set(error);
    }
    goes_on
}

/// Whether people read what is printed.
pub fn is_terminal() -> bool {
    output().is_terminal()
}

/// Whether people read standard error.
pub fn has_error_terminal() -> bool {
    errors().is_terminal()
}

#[expect(clippy::disallowed_methods, reason = "all goes this way")]
fn output() -> io::Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "all goes this way")]
pub fn errors() -> io::Stderr {
    io::stderr()
}
