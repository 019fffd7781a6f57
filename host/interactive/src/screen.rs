//! Where texts for the user go, and how they fit.

use std::fmt::Arguments;
use std::mem;

use console::{Term, measure_text_width};

/// The line in front of what belongs to a part of a chain.
const MARGIN: &str = "│  ";

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

/// A text for the terminal that standard output is: its lines fit, are broken between words but not in commands, and but
/// for the first are indented by so many columns. Elsewhere it is one line.
pub fn fitted(text: &str, indent: usize) -> String {
    match columns() {
        Some(columns) if columns > 2 * indent => below(text, columns, indent),
        _ => text.to_owned(),
    }
}

/// A line for the terminal that standard output is: broken between words, so that it fits, and it goes on below its
/// text: in its second column, or else two columns further than it begins. So words from outside begin no line as ours
/// do, unless one is wider than the terminal. Elsewhere it is one line.
pub fn hung(line: &str) -> String {
    columns().map_or_else(|| line.to_owned(), |columns| hung_within(line, columns))
}

/// As [`hung`], in so many columns.
fn hung_within(line: &str, columns: usize) -> String {
    if measure_text_width(line) <= columns {
        return line.to_owned();
    }
    if let Some((before, text)) = line.split_once(MARGIN)
        && before.trim().is_empty()
    {
        let margin = format!("{before}{MARGIN}");
        let inner = hung_within(text, columns.saturating_sub(measure_text_width(&margin)));
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
    let begin = " ".repeat(indent);
    format!("{begin}{head}{}", below(rest, columns, hanging))
}

/// A text whose first line begins in this column, and whose others are indented that far.
fn below(text: &str, columns: usize, indent: usize) -> String {
    let begin = format!("\n{}", " ".repeat(indent));
    wrapped(text, columns - indent).join(&begin)
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
            assert_eq!(hung_within(line, 22), expected);
        }
        assert_eq!(hung_within("    deep down here", 8), "    deep down here");
    }
}
