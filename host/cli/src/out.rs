//! All output to the terminal. Printed text has no control characters but line feeds, tabs and our own colours, no
//! changes of direction, and no invisible characters, whatever its source.
//!
//! Messages and documents for programs, such as those of `acp-chain watch-keys`, bypass this module.

use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use acp_chain_interactive::{columns, wrapped};
use acp_chain_rpc::untrusted::plain;
use console::measure_text_width;

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

/// The line in front of what belongs to a part of a chain.
const MARGIN: &str = "│  ";

/// The first error of writing to standard output, other than a closed pipe.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// Prints a line; false if standard output is closed.
pub fn say(words: Arguments) -> bool {
    keep(output(), &format!("{words}\n"))
}

/// Prints a line for people: in a terminal, as [`hung`] has it.
pub fn show(words: Arguments) {
    let line = words.to_string();
    let fits = match columns() {
        Some(columns) => hung(&line, columns),
        None => line,
    };
    say(format_args!("{fits}"));
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

/// A text for a terminal: its lines fit, are broken between words but not in commands, and but for the first are
/// indented by so many columns. Elsewhere it is one line.
pub fn fitted(text: &str, indent: usize) -> String {
    match columns() {
        Some(columns) if columns > 2 * indent => {
            let begin = format!("\n{}", " ".repeat(indent));
            wrapped(text, columns - indent).join(&begin)
        }
        _ => text.to_owned(),
    }
}

/// A line that is broken between words, so that it fits, and goes on below its text: in its second column, or else two
/// columns further than it begins. So words from outside begin no line as ours do, unless one is wider than the terminal.
fn hung(line: &str, columns: usize) -> String {
    if measure_text_width(line) <= columns {
        return line.to_owned();
    }
    if let Some((before, text)) = line.split_once(MARGIN)
        && before.trim().is_empty()
    {
        let margin = format!("{before}{MARGIN}");
        let inner = hung(text, columns.saturating_sub(measure_text_width(&margin)));
        return format!("{margin}{}", inner.replace('\n', &format!("\n{margin}")));
    }
    let text = line.trim_start_matches(' ');
    let indent = (line.len() - text.len()).min(columns / 4);
    let second = text
        .find("  ")
        .map(|gap| text.len() - text[gap..].trim_start_matches(' ').len());
    let width = |end: usize| indent + measure_text_width(&text[..end]);
    let (end, hanging) = match second.filter(|end| columns > 2 * width(*end)) {
        Some(end) => (end, width(end)),
        None => (0, indent + 2),
    };
    if columns <= 2 * hanging {
        return line.to_owned();
    }
    let (head, rest) = text.split_at(end);
    let begin = format!("\n{}", " ".repeat(hanging));
    let below = wrapped(rest, columns - hanging).join(&begin);
    format!("{}{head}{below}", " ".repeat(indent))
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

#[cfg(test)]
mod tests {
    use super::hung;

    #[test]
    fn a_line_goes_on_below_its_text() {
        for (line, expected) in [
            ("short", "short"),
            (
                "  ! changes what you write: it may do harm",
                "  ! changes what you\n    write: it may do\n    harm",
            ),
            (
                "  reads  prompts, answers, plans",
                "  reads  prompts,\n         answers,\n         plans",
            ),
            // Too narrow for two columns.
            (
                "  a longer name  of many words that go on",
                "  a longer name  of\n    many words that go\n    on",
            ),
            (
                "  │  ! it is not what it looks like",
                "  │  ! it is not\n  │    what it looks\n  │    like",
            ),
            (
                "use `a command that is long`, or not",
                "use\n  `a command that is long`,\n  or not",
            ),
        ] {
            assert_eq!(hung(line, 22), expected);
        }
        assert_eq!(hung("    deep down here", 8), "    deep down here");
    }
}
