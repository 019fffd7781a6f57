//! Reads the lines of a trace.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

use crate::export::conductor::Incoming;
use crate::{Line, Role, VERSION};

/// The maximum length of a line, in bytes: a message of 64 MiB, whose names appear twice.
const LONGEST: usize = 130 << 20;

/// Why a trace cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("the trace cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A line is not from `--trace`.
    #[error(
        "{line}: not a line of a trace: {error}; `acp-chain try --trace FILE` or `run --trace FILE` writes one"
    )]
    NoTrace {
        /// The line, counted from 1.
        line: usize,
        error: serde_json::Error,
    },
    /// A line is too long.
    #[error("{0}: this line has more than {size} MiB, the limit of a message", size = LONGEST >> 20)]
    TooLong(usize),
    /// The trace has a newer version.
    #[error(
        "{line}: the trace has version {version}, but this program supports versions up to {VERSION}; use a newer acp-chain"
    )]
    Newer {
        /// The line, counted from 1.
        line: usize,
        version: u32,
    },
}

/// Iterates over the lines of a trace, each with its number, counted from 1. Traces of the reference conductor,
/// recognized by their first line, are converted.
///
/// A line can be incomplete if the program was killed, or the disk was full. It is skipped and counted; lines that
/// another connection wrote after it are read.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    text: Vec<u8>,
    number: usize,
    /// The position of the last line read, in bytes.
    at: u64,
    cut: usize,
    /// The connections in which the chain is a proxy.
    inner: HashSet<String>,
    /// The format of the trace, known from the first line.
    dialect: Option<Dialect>,
}

#[derive(Debug)]
enum Dialect {
    Ours,
    Conductor(Incoming),
}

impl<R: BufRead> Reader<R> {
    /// Reads from the current position.
    pub fn new(from: R) -> Self {
        Self {
            from,
            text: Vec::new(),
            number: 0,
            at: 0,
            cut: 0,
            inner: HashSet::new(),
            dialect: None,
        }
    }

    /// The number of incomplete lines so far.
    pub fn cut(&self) -> usize {
        self.cut
    }

    /// The input. After its end, iterating again reads any lines added since.
    pub fn input(&mut self) -> &mut R {
        &mut self.from
    }

    /// Whether a line is from a nested chain. Its `client` and `agent` are the chain around it.
    pub fn is_inner(&self, line: &Line) -> bool {
        !self.inner.is_empty() && self.inner.contains(&line.connection)
    }

    /// The text of the last line read, and its position in bytes, relative to the start of reading.
    pub fn text(&self) -> (u64, &[u8]) {
        (self.at, &self.text)
    }

    /// Passes the lines to `take`, up to the end or to an error of reading. Returns both results.
    pub fn with_lines<T>(
        &mut self,
        take: impl FnOnce(&mut dyn Iterator<Item = Line>) -> T,
    ) -> (T, Result<(), TraceError>) {
        let mut read = Ok(());
        let taken = take(&mut self.map_while(|line| match line {
            Ok((_, line)) => Some(line),
            Err(error) => {
                read = Err(error);
                None
            }
        }));
        (taken, read)
    }

    fn next_line(&mut self) -> Result<Option<(usize, Line)>, TraceError> {
        loop {
            self.at += self.text.len() as u64;
            self.text.clear();
            let mut bounded = self.from.by_ref().take(LONGEST as u64 + 1);
            if bounded.read_until(b'\n', &mut self.text)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let line = self.number;
            if self.text.len() > LONGEST {
                return Err(TraceError::TooLong(line));
            }
            if self.text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match self.parsed() {
                Ok(read) => {
                    self.note_beginning(&read)?;
                    return Ok(Some((line, read)));
                }
                Err(error) if is_cut(&self.text, &error) => self.cut += 1,
                Err(error) => return Err(TraceError::NoTrace { line, error }),
            }
        }
    }

    fn parsed(&mut self) -> serde_json::Result<Line> {
        let dialect =
            self.dialect
                .get_or_insert_with(|| match Incoming::default().line(&self.text) {
                    Ok(_) => Dialect::Conductor(Incoming::default()),
                    Err(_) => Dialect::Ours,
                });
        match dialect {
            Dialect::Ours => serde_json::from_slice(&self.text),
            Dialect::Conductor(incoming) => incoming.line(&self.text),
        }
    }

    fn note_beginning(&mut self, line: &Line) -> Result<(), TraceError> {
        let Some(version) = line.version else {
            return Ok(());
        };
        if version > VERSION {
            let line = self.number;
            return Err(TraceError::Newer { line, version });
        }
        if line.role == Some(Role::Proxy) {
            self.inner.insert(line.connection.clone());
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<(usize, Line), TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().transpose()
    }
}

/// Whether a line is incomplete, judging by its error.
fn is_cut(text: &[u8], error: &serde_json::Error) -> bool {
    let text = text.trim_ascii();
    text.starts_with(b"{") && (error.is_eof() || !text.ends_with(b"}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(trace: &[u8]) -> (Result<Vec<(usize, Line)>, TraceError>, usize) {
        let mut reader = Reader::new(trace);
        let lines = reader.by_ref().collect();
        (lines, reader.cut())
    }

    #[test]
    fn an_incomplete_line_is_skipped_at_every_position() {
        let (lines, cut) =
            read(b"{\"proxy\":\"a\"}\n{\"from\":\"cl\n\n{\"to\":\"b\",\"new\":[1]}\n{\"fr");
        let lines = lines.unwrap();
        assert_eq!(cut, 2);
        let numbers: Vec<_> = lines.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 4]);
        assert_eq!(lines[1].1.to.as_deref(), Some("b"));
    }

    #[test]
    fn invalid_lines_are_reported_with_their_number() {
        for (trace, told) in [
            ("{}\nx\n", "2: not a line of a trace: expected value"),
            ("{\"from\":1}", "1: not a line of a trace: invalid type"),
            ("{}\n\u{feff}{}", "2: not a line of a trace"),
            ("{\"version\":2}", "1: the trace has version 2"),
        ] {
            let error = read(trace.as_bytes()).0.unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn a_reader_at_the_end_continues_with_added_lines() {
        let mut reader = Reader::new(&b"{}\n"[..]);
        assert_eq!(reader.by_ref().count(), 1);
        *reader.input() = &b"{\"proxy\":\"a\"}\n"[..];
        let (number, _) = reader.next().unwrap().unwrap();
        assert_eq!((number, reader.text().0), (2, 3));
    }

    #[test]
    fn null_is_a_body() {
        let (lines, _) = read(b"{\"result\":null}\n{}\n");
        let lines = lines.unwrap();
        assert_eq!(lines[0].1.body(), Some("null"));
        assert_eq!(lines[1].1.body(), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_rejected(trace in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let _ = read(&trace);
        }

        #[test]
        fn any_objects_are_read_or_rejected(trace in r#"(\{("(from|to|kind|proxy|decision|version|params|time|request)":("a"|1|null|\[\]|\{"a":1\}|"request"),?){0,4}\}?\n?){0,8}"#) {
            let _ = read(trace.as_bytes());
        }

        #[test]
        fn a_truncated_trace_is_read_up_to_its_end(at in 0usize..200) {
            let whole = "{\"from\":\"client\",\"to\":\"agent\",\"params\":{\"a\":[1,\"ä\",null,-1.5e3]}}\n".repeat(3);
            let at = at.min(whole.len());
            let (lines, cut) = read(&whole.as_bytes()[..at]);
            prop_assert!(lines.is_ok(), "{:?}", lines);
            prop_assert!(cut <= 1);
            prop_assert!(lines.unwrap().len() >= at / (whole.len() / 3));
        }
    }
}
