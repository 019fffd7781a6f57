//! All output to the terminal. Printed text has no control characters but line feeds, tabs and our own colours, no
//! changes of direction, and no invisible characters, whatever its source.
//!
//! Messages and documents for programs, such as those of `acp-chain watch-keys`, bypass this module.

use std::fmt::{Arguments, Display};
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use acp_chain_interactive::hung;
use acp_chain_rpc::untrusted::plain;

/// Prints a line.
macro_rules! say {
    ($($words:tt)*) => {{
        $crate::out::say(format_args!($($words)*));
    }};
}

/// Prints a line for people, which goes on below its text where it does not fit the terminal.
macro_rules! show {
    ($($words:tt)*) => {{
        $crate::out::show(format_args!($($words)*));
    }};
}

/// Prints the beginning of a line, or more of it, at once.
macro_rules! put {
    ($($words:tt)*) => {
        $crate::out::put(format_args!($($words)*))
    };
}

/// Prints a line to standard error.
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::out::tell(format_args!($($words)*))
    };
}

/// The error of a command, with this text.
macro_rules! wrong {
    ($($words:tt)*) => {
        $crate::Error::from(format!($($words)*))
    };
}

/// The first error of writing to standard output, other than a closed pipe.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// Prints a line; false if standard output is closed.
pub fn say(words: Arguments) -> bool {
    keep(output(), &format!("{words}\n"))
}

/// Prints a line for people, as [`hung`] has it.
pub fn show(words: Arguments) {
    say(format_args!("{}", hung(&words.to_string())));
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
    // Standard error may be closed.
    let _ = errors().write_all(plain(&words.to_string()).as_bytes());
}

/// The first error of writing to standard output.
pub fn unwritten() -> Option<&'static io::Error> {
    UNWRITTEN.get()
}

/// Writes a text; false if that fails. A reader may stop before the end, as `head` does; other errors, such as a full
/// disk, become the exit code.
fn keep(mut out: impl Write, text: &str) -> bool {
    let written = out
        .write_all(plain(text).as_bytes())
        .and_then(|()| out.flush());
    let goes_on = written.is_ok();
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // Only the first error is kept.
        let _ = UNWRITTEN.set(error);
    }
    goes_on
}

/// A number of things, in words.
pub fn counted<N: Display + From<u8> + PartialEq>(count: N, thing: &str) -> String {
    let s = if count == N::from(1) { "" } else { "s" };
    format!("{count} {thing}{s}")
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    output().is_terminal()
}

/// Whether standard error is a terminal.
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
