//! Where texts for the user go, and how they fit.

use std::fmt::Arguments;
use std::mem;

use console::{Term, measure_text_width};

/// The standard streams, as the user reads them. An implementation takes out what could steer a terminal: texts may
/// have parts from outside.
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

/// A text in lines of at most this many columns, broken between its words. A longer word has a line of its own. What is
/// between backticks counts as one word, so that a command can be copied.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut width) = (String::new(), 0);
    for word in words(text) {
        let added = measure_text_width(word);
        if width > 0 && width + 1 + added > columns {
            lines.push(mem::take(&mut line));
            width = 0;
        }
        if width > 0 {
            line.push(' ');
            width += 1;
        }
        line.push_str(word);
        width += added;
    }
    lines.push(line);
    lines
}

/// The words of a text, as [`wrapped`] takes them.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text);
    while let Some(end) = end_of_word(rest) {
        words.push(&rest[..end]);
        rest = &rest[end + 1..];
    }
    words.push(rest);
    words
}

/// Where the first space is that is not between backticks.
fn end_of_word(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            // Without a second one, it is a letter as any other.
            '`' => is_quoted = !is_quoted && text[at + 1..].contains('`'),
            ' ' if !is_quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// The columns of the terminal that standard output is, if it is one.
pub fn columns() -> Option<usize> {
    let size = Term::stdout().size_checked();
    size.map(|(_, columns)| usize::from(columns))
}

#[cfg(test)]
pub use tests::Blank;

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows nothing.
    pub struct Blank;

    impl Screen for Blank {
        fn put(&self, _text: Arguments<'_>) {}

        fn tell(&self, _line: Arguments<'_>) {}

        fn is_terminal(&self) -> bool {
            false
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrapped("a-long-word b", 4), ["a-long-word", "b"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn commands_are_not_broken() {
        assert_eq!(
            wrapped("say `a b c`, then d", 8),
            ["say", "`a b c`,", "then d"]
        );
        assert_eq!(wrapped("`a b c` d", 4), ["`a b c`", "d"]);
        assert_eq!(wrapped("`a b` c `d e", 4), ["`a b`", "c `d", "e"]);
        let bold = "`\u{1b}[1ma b\u{1b}[0m` c d";
        assert_eq!(wrapped(bold, 7), ["`\u{1b}[1ma b\u{1b}[0m` c", "d"]);
    }
}
