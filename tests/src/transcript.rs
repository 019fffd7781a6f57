//! The lines sent and received at every end that a test drives, in the order in which they were seen.
//!
//! A transcript is written and compared as text, one line a message:
//!
//! ```text
//! client → {"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
//! agent  ← {"jsonrpc":"2.0","id":…,"method":"initialize","params":{}}
//! agent  → {"jsonrpc":"2.0","id":0,"result":{}}
//! client ← {"jsonrpc":"2.0","id":1,"result":{}}
//! ```
//!
//! `client → ` marks a line that the test sent as the client, `client ← ` one that it received there.
//! A message comes after the one that caused it. Two ends that send at the same time may
//! interleave; [`Transcript::of`] has one end alone.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Stands for any text in an expected line.
pub const ANYTHING: char = '…';

/// The longest line that is printed whole, in bytes.
const PRINTED: usize = 2_000;

/// The direction of a line at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `→`
    Sent,
    /// `←`
    Received,
}

/// One line that an end sent or received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name of the end.
    pub end: &'static str,
    /// The line's direction at that end.
    pub direction: Direction,
    /// The line, without its line feed.
    pub line: String,
}

/// A record that all ends of a test write into. Clones are the same record.
#[derive(Debug, Clone, Default)]
pub struct Transcript(Arc<Mutex<Vec<Entry>>>);

impl Transcript {
    /// An empty transcript.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a line.
    pub fn record(&self, end: &'static str, direction: Direction, line: impl Into<String>) {
        let line = line.into();
        self.lock().push(Entry {
            end,
            direction,
            line,
        });
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// All entries so far.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    /// The entries of one end so far, as a separate transcript.
    #[must_use]
    pub fn of(&self, end: &str) -> Self {
        let mut entries = self.entries();
        entries.retain(|entry| entry.end == end);
        Self(Arc::new(Mutex::new(entries)))
    }

    /// The lines that an end received so far.
    #[must_use]
    pub fn received(&self, end: &str) -> Vec<String> {
        self.lines(end, Direction::Received)
    }

    /// The lines that an end sent so far.
    #[must_use]
    pub fn sent(&self, end: &str) -> Vec<String> {
        self.lines(end, Direction::Sent)
    }

    fn lines(&self, end: &str, direction: Direction) -> Vec<String> {
        let entries = self.lock();
        let wanted = entries
            .iter()
            .filter(|entry| entry.end == end && entry.direction == direction);
        wanted.map(|entry| entry.line.clone()).collect()
    }

    /// Asserts that the transcript is exactly this. Empty lines, and white space before and after
    /// a line, do not count; `…` stands for any text.
    ///
    /// # Panics
    /// If it differs, with the first line that differs and the whole transcript.
    #[track_caller]
    pub fn assert(&self, expected: &str) {
        let entries = self.entries();
        let mut expected = expected
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        for (number, entry) in (1..).zip(&entries) {
            let wanted = expected.next();
            assert!(
                wanted.is_some_and(|wanted| entry.is(wanted)),
                "line {number} of the transcript differs\n  expected: {}\n  found:    {entry}\n\
                 the whole of it:\n{self}",
                wanted.unwrap_or("no more"),
            );
        }
        let missing: Vec<_> = expected.collect();
        assert!(
            missing.is_empty(),
            "the transcript ends before\n  {}\nthe whole of it:\n{self}",
            missing.join("\n  "),
        );
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        // A test that failed in another thread is reported there; the record is still whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.lock();
        entries
            .iter()
            .try_for_each(|entry| writeln!(f, "  {entry}"))
    }
}

impl Entry {
    fn arrow(&self) -> char {
        match self.direction {
            Direction::Sent => '→',
            Direction::Received => '←',
        }
    }

    /// Whether this entry matches a line of an expected transcript.
    fn is(&self, expected: &str) -> bool {
        let Some((end, line)) = expected.split_once(self.arrow()) else {
            return false;
        };
        end.trim() == self.end && matches(line.trim(), self.line.trim())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { end, line, .. } = self;
        let arrow = self.arrow();
        if line.len() <= PRINTED {
            return write!(f, "{end} {arrow} {line}");
        }
        let start: String = line.chars().take(PRINTED / 4).collect();
        write!(f, "{end} {arrow} {start}{ANYTHING} ({} bytes)", line.len())
    }
}

/// Whether the text is the pattern's literal parts in their order, with anything between them.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split(ANYTHING);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript() -> Transcript {
        let transcript = Transcript::new();
        transcript.record("client", Direction::Sent, r#"{"id":1,"method":"x"}"#);
        transcript.record("agent", Direction::Received, r#"{"id":77,"method":"x"}"#);
        transcript
    }

    #[test]
    fn an_expected_transcript_is_written_as_it_reads() {
        transcript().assert(
            r#"
            client → {"id":1,"method":"x"}
            agent  ← {"id":…,"method":"x"}
            "#,
        );
        transcript().of("agent").assert("agent ← …");
        assert_eq!(
            transcript().received("agent"),
            [r#"{"id":77,"method":"x"}"#]
        );
        assert!(transcript().sent("agent").is_empty());
    }

    #[test]
    #[should_panic(expected = "line 2 of the transcript differs")]
    fn a_line_the_wrong_way_differs() {
        transcript().assert("client → {…}\nagent → {…}");
    }

    #[test]
    #[should_panic(expected = "expected: no more")]
    fn one_line_more_than_expected_differs() {
        transcript().assert("client → {…}");
    }

    #[test]
    #[should_panic(expected = "the transcript ends before\n  client ← {}")]
    fn one_line_less_than_expected_differs() {
        transcript().assert("client → {…}\nagent ← {…}\nclient ← {}");
    }

    #[test]
    fn anything_is_any_text_between_the_literal_parts() {
        for (pattern, text) in [
            ("", ""),
            ("a", "a"),
            ("…", ""),
            ("a…c…e", "abcde"),
            ("…a", "aa"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", "ab"),
            ("a…b", "ac"),
            ("ab…b", "ab"),
            ("a…a", "a"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_huge_line_is_cut_when_it_is_printed() {
        let transcript = Transcript::new();
        transcript.record("agent", Direction::Sent, "é".repeat(1 << 20));
        let printed = transcript.to_string();
        assert!(printed.len() < 5_000 && printed.contains("2097152 bytes"));
    }
}
