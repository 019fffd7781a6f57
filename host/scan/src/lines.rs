//! Lines of bounded length: of a longer one, nothing is kept.

use std::io::{self, BufRead};

use memchr::memchr;

/// The longest line that is read, in bytes: a message of the chain and its envelope.
pub(crate) const LONGEST: usize = 64 << 20;

/// Reads lines.
pub(crate) struct Lines<R> {
    from: R,
    text: Vec<u8>,
    longest: usize,
    is_split: bool,
    /// The number of the last line, counted from 1.
    pub number: u64,
    /// The size of the last line, with its end.
    pub size: u64,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It is in [`Lines::text`].
    Whole,
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(from: R, longest: usize) -> Self {
        Self {
            from,
            text: Vec::new(),
            longest,
            is_split: true,
            number: 0,
            size: 0,
        }
    }

    /// All of it as one line.
    pub(crate) fn whole(from: R, longest: usize) -> Self {
        Self {
            is_split: false,
            ..Self::new(from, longest)
        }
    }

    /// The text of the last line, without its end; empty if it is too long.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.strip_suffix(b"\n").unwrap_or(&self.text)
    }

    /// Reads the next line; `None` at the end.
    pub(crate) fn advance(&mut self) -> io::Result<Option<Line>> {
        self.text.clear();
        self.size = 0;
        let mut line = Line::Whole;
        loop {
            let part = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                part => part?,
            };
            if part.is_empty() {
                self.number += u64::from(self.size > 0);
                return Ok((self.size > 0).then_some(line));
            }
            let end = self.is_split.then(|| memchr(b'\n', part)).flatten();
            let taken = end.map_or(part.len(), |end| end + 1);
            if line == Line::Whole && self.text.len() + taken <= self.longest {
                self.text.extend_from_slice(&part[..taken]);
            } else {
                line = Line::TooLong;
                self.text = Vec::new();
            }
            self.from.consume(taken);
            self.size += taken as u64;
            if end.is_some() {
                self.number += 1;
                return Ok(Some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn of_a_line_that_is_too_long_nothing_is_kept_and_the_next_is_read() {
        let text = b"one\n12345678\n\nlast";
        for capacity in [1, 3, 100] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, &text[..]), 5);
            let mut read = Vec::new();
            while let Some(line) = lines.advance().unwrap() {
                let text = String::from_utf8_lossy(lines.text()).into_owned();
                read.push((lines.number, line, text, lines.size));
            }
            let whole = |number, text: &str, size| (number, Line::Whole, text.to_owned(), size);
            let expected = [
                whole(1, "one", 4),
                (2, Line::TooLong, String::new(), 9),
                whole(3, "", 1),
                whole(4, "last", 4),
            ];
            assert_eq!(read, expected, "{capacity}");
            let from = BufReader::with_capacity(capacity, &text[..]);
            let mut all = Lines::whole(from, 100);
            assert_eq!(all.advance().unwrap(), Some(Line::Whole));
            assert_eq!((all.text(), all.size), (&text[..], 18));
            assert_eq!(all.advance().unwrap(), None);
        }
    }
}
