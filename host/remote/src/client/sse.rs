//! Parses server-sent events (WHATWG HTML): only their data and their ids.
//!
//! The longest data bounds the memory, whatever arrives: other fields are truncated.

use std::mem;

use bytes::{Buf, Bytes};

/// How many bytes of a line other than data are kept: the name of a field and an id.
const SHORT: usize = 1024;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The data lines, joined by spaces: they are JSON, where a line break is white space. Empty if it has none.
    pub data: Bytes,
    /// Its id, if it has a valid one.
    pub id: Option<Bytes>,
}

/// The data of an event is too long.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// The kind of the line being read.
#[derive(Debug, Default)]
enum Line {
    /// Unknown: its first bytes do not show it yet.
    #[default]
    Begun,
    /// Data.
    Data,
    /// A comment, or a field that is ignored.
    Other,
}

/// Extracts events from the input, however it is split.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    line: Line,
    /// The bytes of a line other than data.
    begun: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    id: Option<Bytes>,
    /// Whether the last byte was a carriage return, so that a line feed belongs to it.
    was_return: bool,
    is_first_line: bool,
}

impl Parser {
    /// A parser for data of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Line::Begun,
            begun: Vec::new(),
            data: Vec::new(),
            has_data: false,
            id: None,
            was_return: false,
            is_first_line: true,
        }
    }

    /// The next complete event; consumes the bytes that it has read. `None` when they are used up.
    pub fn next(&mut self, bytes: &mut Bytes) -> Result<Option<Event>, TooLong> {
        while bytes.has_remaining() {
            if mem::take(&mut self.was_return) && bytes[0] == b'\n' {
                bytes.advance(1);
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.read(&bytes.split_off(0))?;
                break;
            };
            self.read(&bytes[..end])?;
            self.was_return = bytes[end] == b'\r';
            bytes.advance(end + 1);
            if let Some(event) = self.end_line()? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Reads a part of a line.
    fn read(&mut self, part: &[u8]) -> Result<(), TooLong> {
        match self.line {
            Line::Data => self.take_data(part),
            Line::Other => Ok(()),
            Line::Begun => {
                // One byte more than is kept, to recognize excess.
                let room = SHORT + 1 - self.begun.len().min(SHORT + 1);
                let taken = part.len().min(room);
                self.begun.extend_from_slice(&part[..taken]);
                self.classify()?;
                match self.line {
                    Line::Data => self.take_data(&part[taken..]),
                    Line::Begun | Line::Other => Ok(()),
                }
            }
        }
    }

    /// Determines the kind of a line, once that is possible.
    fn classify(&mut self) -> Result<(), TooLong> {
        const DATA: &[u8] = b"data:";
        let bom = if self.is_first_line { BOM } else { b"" };
        if self.begun.len() <= bom.len() + DATA.len() {
            return Ok(());
        }
        let line = self.begun.strip_prefix(bom).unwrap_or(&self.begun);
        if let Some(value) = line.strip_prefix(DATA) {
            let value = value.strip_prefix(b" ").unwrap_or(value).to_vec();
            self.begin_data()?;
            self.line = Line::Data;
            self.begun.clear();
            return self.take_data(&value);
        }
        if self.begun.len() > SHORT {
            self.line = Line::Other;
            self.begun = Vec::new();
        }
        Ok(())
    }

    fn begin_data(&mut self) -> Result<(), TooLong> {
        if mem::replace(&mut self.has_data, true) {
            self.take_data(b" ")
        } else {
            Ok(())
        }
    }

    fn take_data(&mut self, part: &[u8]) -> Result<(), TooLong> {
        if self.data.len() + part.len() > self.limit {
            return Err(TooLong);
        }
        self.data.extend_from_slice(part);
        Ok(())
    }

    /// The line is complete. Returns an event if it was its last line.
    fn end_line(&mut self) -> Result<Option<Event>, TooLong> {
        let line = mem::take(&mut self.begun);
        let is_first = mem::take(&mut self.is_first_line);
        if !matches!(mem::take(&mut self.line), Line::Begun) {
            return Ok(None);
        }
        let line = if is_first {
            line.strip_prefix(BOM).unwrap_or(&line)
        } else {
            &line
        };
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.begin_data()?;
                self.take_data(value)?;
            }
            b"id" if !value.contains(&0) => self.id = Some(Bytes::copy_from_slice(value)),
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<Event> {
        self.has_data = false;
        let event = Event {
            data: mem::take(&mut self.data).into(),
            id: self.id.take(),
        };
        (event != Event::default()).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// All events of a stream that arrives in these pieces.
    fn events<'b>(
        pieces: impl IntoIterator<Item = &'b [u8]>,
        limit: usize,
    ) -> Result<Vec<Event>, TooLong> {
        let mut parser = Parser::new(limit);
        let mut events = Vec::new();
        for piece in pieces {
            let mut bytes = Bytes::copy_from_slice(piece);
            while let Some(event) = parser.next(&mut bytes)? {
                events.push(event);
            }
        }
        Ok(events)
    }

    fn event(data: &str, id: Option<&str>) -> Event {
        Event {
            data: Bytes::copy_from_slice(data.as_bytes()),
            id: id.map(|id| Bytes::copy_from_slice(id.as_bytes())),
        }
    }

    #[test]
    fn events_are_parsed_by_the_standard() {
        let text = "\u{feff}: comment\n\ndata: {\"a\":\ndata:1}\nid: 7\nevent: x\nretry: 5\n\n\
                    id\n\ndata\n\ndata\ndata\n\nid: a\0b\ndata:  x\r\rdatax: no\r\n data: no\r\n\r\ndata: torn";
        assert_eq!(
            events([text.as_bytes()], 100),
            Ok(vec![
                event("{\"a\": 1}", Some("7")),
                event("", Some("")),
                event(" ", None),
                event(" x", None),
            ])
        );
    }

    #[test]
    fn excess_is_not_kept() {
        let long = "x".repeat(100_000);
        for comment in [
            format!(":{long}\n"),
            format!("id: {long}\n"),
            format!("{long}: 1\n"),
        ] {
            let text = format!("{comment}data: 1\n\n");
            let mut parser = Parser::new(10);
            let mut bytes = Bytes::from(text);
            assert_eq!(parser.next(&mut bytes), Ok(Some(event("1", None))));
            assert!(parser.begun.capacity() <= 2 * SHORT);
        }
        let just = format!("data: {}\n\n", "x".repeat(10));
        assert_eq!(events([just.as_bytes()], 10).map(|all| all.len()), Ok(1));
        assert_eq!(events([just.as_bytes()], 9), Err(TooLong));
        let lines = "data: x\n".repeat(6);
        assert_eq!(events([lines.as_bytes()], 10), Err(TooLong));
    }

    /// An independent implementation of the standard, line by line, for a complete text.
    fn read_at_once(text: &str) -> Vec<Event> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut all, mut data, mut id) = (Vec::new(), Vec::new(), None);
        for line in text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
        {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "" if line.is_empty() => {
                    let read = event(&mem::take(&mut data).join(" "), id.take());
                    all.extend((read != Event::default()).then_some(read));
                }
                "data" => data.push(value),
                "id" if !value.contains('\0') => id = Some(value),
                _ => {}
            }
        }
        all
    }

    proptest! {
        #[test]
        fn events_do_not_depend_on_how_they_are_split(
            parts in prop::collection::vec(select(vec![
                "\u{feff}", "data", "data:", "data: ", "id", "id:", "id: ", "event: x", "retry:1", ":", ": c", " ",
                "\n", "\r", "\r\n", "\n\n", "{\"a\":1}", "ä", "\0", "d", "x",
            ]), 0..40),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        ) {
            let text = parts.concat();
            let bytes = text.as_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
            prop_assert_eq!(events(pieces, 1000), Ok(read_at_once(&text)));
        }

        #[test]
        fn any_bytes_are_accepted(bytes in prop::collection::vec(any::<u8>(), 0..200), limit in 0..50_usize) {
            let whole = events([&bytes[..]], limit);
            let singly = events(bytes.chunks(1), limit);
            prop_assert_eq!(whole, singly);
        }
    }
}
