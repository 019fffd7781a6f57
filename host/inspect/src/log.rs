//! The index of all lines: a row for each, which the page receives, and the position of its text. A row has numbers
//! and a short text.
//!
//! Rows are numbered in the order in which they were received from all sources. The oldest are dropped, here and in the
//! page: those of running chains when there are too many, and those of a file when their text is no longer available.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use acp_chain_trace::Line;
use bytes::Bytes;
use memchr::memmem;
use serde::Serialize;
use tokio::sync::watch;

use crate::connection::Connection;
use crate::names::Names;
use crate::row::{self, COLUMNS, Numbers};
use crate::said::said;
use crate::turns::TurnEvent;

/// The maximum number of rows in a frame, which are sent at once.
const FRAME: usize = 4096;

/// The maximum number of rows of running chains.
const ROWS: usize = 200_000;

/// The maximum length of their text, in bytes.
const BYTES: usize = 256 << 20;

/// The maximum number of connections, and of notices.
const MOST: usize = 10_000;

/// A file with the text of lines; `None` once it no longer has them.
pub type LineFile = Arc<Mutex<Option<File>>>;

/// The position of a line's text.
#[derive(Clone, Debug)]
enum Text {
    In { file: LineFile, at: u64, len: u32 },
    Kept(Bytes),
}

/// The position of a line's text, and of the body within the text.
#[derive(Clone, Debug)]
pub struct Place {
    text: Text,
    body: Range<u32>,
}

/// A line, with its number in its source and its text.
#[derive(Debug)]
pub struct Entry {
    line: Line,
    number: usize,
    place: Place,
}

/// A source of lines: a file, or a running chain.
pub type SourceId = usize;

#[derive(Clone, Debug, Serialize)]
struct Source {
    name: String,
    is_live: bool,
    has_ended: bool,
}

/// All lines of all sources.
#[derive(Debug)]
pub struct Log {
    inner: Mutex<Inner>,
    changed: watch::Sender<()>,
    is_windowed: bool,
}

#[derive(Debug, Default)]
struct Inner {
    names: Names,
    sources: Vec<Source>,
    connections: Vec<Connection>,
    /// The numbers of connections, by source and name.
    known: HashMap<(SourceId, String), u32>,
    notices: Vec<String>,
    /// Incremented with each change of sources, connections or notices.
    version: u64,
    /// The numbers of the first row and of the first frame that are kept.
    first: u64,
    first_frame: u64,
    places: VecDeque<Place>,
    frames: VecDeque<Frame>,
    /// The total length of the kept texts, in bytes.
    bytes: usize,
}

#[derive(Debug)]
struct Frame {
    json: Bytes,
    rows: usize,
}

#[derive(Serialize)]
struct RowBatch<'a> {
    first: u64,
    /// Rows before this one have been dropped.
    oldest: u64,
    rows: &'a [Vec<i64>],
    /// The text of each row.
    said: &'a [String],
    /// The titles of turns, with the rows of their prompts.
    turns: &'a [(u64, String)],
    /// The rows at which the agent first speaks in a turn, and at which a turn ends, with the row of its prompt.
    speaks: &'a [(u64, u64)],
    ends: &'a [(u64, u64)],
}

/// How much of the log a page has received.
#[derive(Debug, Default)]
pub struct Cursor {
    names: usize,
    /// The log's version in the last head that was sent.
    since: Option<u64>,
    frame: u64,
}

#[derive(Serialize)]
struct Head<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    names: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<&'a [Source]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<&'a [Connection]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notices: Option<&'a [String]>,
}

impl Entry {
    /// A line of a file, which has its text at this position.
    pub(crate) fn in_file(
        line: Line,
        number: usize,
        text: &[u8],
        file: &LineFile,
        at: u64,
    ) -> Self {
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let file = Arc::clone(file);
        Self::new(line, number, text, Text::In { file, at, len })
    }

    /// A line whose text is kept in memory.
    pub fn kept(line: Line, number: usize, text: Bytes) -> Self {
        Self::new(line, number, &text.clone(), Text::Kept(text))
    }

    fn new(line: Line, number: usize, bytes: &[u8], text: Text) -> Self {
        let body = body(&line, bytes);
        Self {
            line,
            number,
            place: Place { text, body },
        }
    }
}

/// The range of the body in the text of its line.
pub fn body(line: &Line, text: &[u8]) -> Range<u32> {
    let Some(body) = line.body() else { return 0..0 };
    // Bodies come after all other long members. In another program's trace, the body may be spelt differently.
    let (at, len) = match memmem::rfind(text, body.as_bytes()) {
        Some(at) => (at, body.len()),
        None => (0, text.len()),
    };
    let at = u32::try_from(at).unwrap_or_default();
    at..at.saturating_add(u32::try_from(len).unwrap_or_default())
}

impl Place {
    /// Whether its text was in a file that is no longer available.
    fn is_lost(&self) -> bool {
        match &self.text {
            Text::In { file, .. } => lock(file).is_none(),
            Text::Kept(_) => false,
        }
    }

    /// The text of the line.
    ///
    /// # Errors
    /// If the file no longer has it.
    pub fn read(&self) -> io::Result<Bytes> {
        match &self.text {
            Text::Kept(text) => Ok(text.clone()),
            Text::In { file, at, len } => {
                let mut text = vec![0; *len as usize];
                read_at(file, *at, &mut text)?;
                Ok(text.into())
            }
        }
    }

    /// The body within the text of the line.
    pub fn body<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let range = self.body.start as usize..self.body.end as usize;
        text.get(range).unwrap_or_default()
    }

    /// Its file and its range there; `None` if the text is kept in memory.
    pub fn span(&self) -> Option<(&LineFile, Range<u64>)> {
        match &self.text {
            Text::In { file, at, len } => Some((file, *at..*at + u64::from(*len))),
            Text::Kept(_) => None,
        }
    }
}

/// Reads from a file at this position.
///
/// # Errors
/// If the file no longer has it.
pub fn read_at(file: &LineFile, at: u64, into: &mut [u8]) -> io::Result<()> {
    let mut file = lock(file);
    let gone = || io::Error::other("the trace file started over and no longer has this line");
    let file = file.as_mut().ok_or_else(gone)?;
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(into).map_err(|_| gone())
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// A log of files, with all of their lines.
    pub fn of_files() -> Self {
        Self::new(false)
    }

    /// A log of running chains, with a window of their newest lines.
    pub fn of_chains() -> Self {
        Self::new(true)
    }

    fn new(is_windowed: bool) -> Self {
        Self {
            inner: Mutex::default(),
            changed: watch::Sender::new(()),
            is_windowed,
        }
    }

    /// Adds a source.
    pub fn source(&self, name: &str) -> SourceId {
        let is_live = self.is_windowed;
        let source = Source {
            name: name.to_owned(),
            is_live,
            has_ended: false,
        };
        self.change(|inner| {
            inner.sources.push(source);
            inner.sources.len() - 1
        })
    }

    /// Marks a source as ended.
    pub fn ended(&self, source: SourceId) {
        self.change(|inner| {
            if let Some(source) = inner.sources.get_mut(source) {
                source.has_ended = true;
            }
        });
    }

    /// Shows a notice on the page.
    pub fn notice(&self, text: &str) {
        self.change(|inner| {
            if inner.notices.len() < MOST {
                inner.notices.push(text.to_owned());
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = lock(&self.inner);
        inner.version += 1;
        let result = change(&mut inner);
        drop(inner);
        self.changed.send_replace(());
        result
    }

    /// Adds lines of a source.
    pub fn append(&self, source: SourceId, entries: Vec<Entry>) {
        let mut entries = entries.into_iter().peekable();
        let mut inner = lock(&self.inner);
        while entries.peek().is_some() {
            inner.frame(source, entries.by_ref().take(FRAME));
        }
        if self.is_windowed {
            inner.drop_old();
        }
        drop(inner);
        self.changed.send_replace(());
    }

    /// Drops the oldest rows whose files are no longer available.
    pub(crate) fn drop_lost(&self) {
        lock(&self.inner).drop_lost();
    }

    /// The range of the rows that are kept.
    pub fn range(&self) -> Range<u64> {
        let inner = lock(&self.inner);
        inner.first..inner.first + inner.places.len() as u64
    }

    /// The positions of up to `most` rows, starting with `from` or the first that is kept.
    pub fn places(&self, from: u64, most: usize) -> (u64, Vec<Place>) {
        let inner = lock(&self.inner);
        let from = from.max(inner.first);
        let skip = usize::try_from(from - inner.first).unwrap_or(usize::MAX);
        let places = inner.places.iter().skip(skip).take(most);
        (from, places.cloned().collect())
    }

    /// Notifies of changes.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns what a page has not received yet, as lines of JSON objects, with at most one frame of rows.
    pub fn news(&self, cursor: &mut Cursor) -> Option<Bytes> {
        let inner = lock(&self.inner);
        let names = inner.names.since(cursor.names);
        let is_current = cursor.since == Some(inner.version);
        let mut text = Vec::new();
        if !names.is_empty() || !is_current {
            let head = Head {
                names,
                sources: (!is_current).then_some(&inner.sources),
                connections: (!is_current).then_some(&inner.connections),
                notices: (!is_current).then_some(&inner.notices),
            };
            // Serializing to memory cannot fail.
            let _ = serde_json::to_writer(&mut text, &head);
            text.push(b'\n');
            cursor.names = inner.names.count();
            cursor.since = Some(inner.version);
        }
        cursor.frame = cursor.frame.max(inner.first_frame);
        let at = usize::try_from(cursor.frame - inner.first_frame).unwrap_or(usize::MAX);
        if let Some(frame) = inner.frames.get(at) {
            text.extend_from_slice(&frame.json);
            cursor.frame += 1;
        }
        (!text.is_empty()).then(|| text.into())
    }
}

impl Inner {
    fn frame(&mut self, source: SourceId, entries: impl Iterator<Item = Entry>) {
        let first = self.first + self.places.len() as u64;
        let mut columns = vec![Vec::new(); COLUMNS];
        let mut texts = Vec::new();
        let (mut turns, mut speaks, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, at) in entries.zip(first..) {
            let (kind, text) = said(&entry.line);
            let numbers = self.numbers(source, &entry.line, kind.as_deref(), at);
            let row = row::row(entry.number, &entry.line, &numbers);
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
            texts.push(text);
            match self.turn_event(&numbers, at, &entry.line) {
                Some(TurnEvent::Begins(title)) => turns.push((at, title)),
                Some(TurnEvent::Speaks(turn)) => speaks.push((turn, at)),
                Some(TurnEvent::Ends(turn)) => ends.push((turn, at)),
                None => {}
            }
            if let Text::Kept(text) = &entry.place.text {
                self.bytes += text.len();
            }
            self.places.push_back(entry.place);
        }
        let sent = RowBatch {
            first,
            oldest: self.first,
            rows: &columns,
            said: &texts,
            turns: &turns,
            speaks: &speaks,
            ends: &ends,
        };
        let mut json = serde_json::to_vec(&sent).unwrap_or_default();
        json.push(b'\n');
        self.frames.push_back(Frame {
            json: json.into(),
            rows: columns[0].len(),
        });
    }

    fn turn_event(&mut self, numbers: &Numbers, row: u64, line: &Line) -> Option<TurnEvent> {
        let connection = self.connections.get_mut(numbers.connection? as usize)?;
        connection.turns.take(row, line)
    }

    fn numbers(&mut self, source: SourceId, line: &Line, kind: Option<&str>, row: u64) -> Numbers {
        let from = line.from.as_deref().or(line.proxy.as_deref());
        let is_of_all = line.dropped.is_some() && line.connection.is_empty();
        Numbers {
            connection: (!is_of_all).then(|| self.connection(source, line, row)),
            from: self.names.number(from),
            to: self.names.number(line.to.as_deref()),
            method: self.names.number(line.method.as_deref()),
            session: self.names.number(line.session.as_deref()),
            kind: self.names.number(kind),
        }
    }

    /// The number of a line's connection.
    fn connection(&mut self, source: SourceId, line: &Line, row: u64) -> u32 {
        let key = (source, line.connection.clone());
        let number = match self.known.get(&key) {
            Some(known) => *known,
            // Further connections share the first number.
            None if self.connections.len() >= MOST => return 0,
            None => {
                let number = u32::try_from(self.connections.len()).unwrap_or_default();
                self.connections.push(Connection::new(source, line, row));
                self.known.insert(key, number);
                self.version += 1;
                number
            }
        };
        let connection = self.connections.get_mut(number as usize);
        if connection.is_some_and(|connection| connection.learn(line)) {
            self.version += 1;
        }
        number
    }

    /// Drops the oldest frames past the window, but not the newest.
    fn drop_old(&mut self) {
        while self.frames.len() > 1 && (self.places.len() > ROWS || self.bytes > BYTES) {
            self.drop_frame();
        }
    }

    /// Drops the oldest frames of lost files. A frame has lines of only one file.
    fn drop_lost(&mut self) {
        while self.places.front().is_some_and(Place::is_lost) {
            self.drop_frame();
        }
    }

    fn drop_frame(&mut self) {
        let Some(frame) = self.frames.pop_front() else {
            return;
        };
        let kept = |place: Place| match place.text {
            Text::Kept(text) => text.len(),
            Text::In { .. } => 0,
        };
        let gone = self.places.drain(..frame.rows);
        self.bytes -= gone.map(kept).sum::<usize>();
        self.first += frame.rows as u64;
        self.first_frame += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: usize, text: &'static [u8]) -> Vec<Entry> {
        let line: Line = serde_json::from_slice(text).unwrap();
        let entry = |at| Entry::kept(line.clone(), at + 1, Bytes::from_static(text));
        (0..count).map(entry).collect()
    }

    const LINE: &[u8] = br#"{"connection":"c","from":"client","to":"a","kind":"request","method":"m","params":{"a":1}}"#;

    #[test]
    fn a_page_receives_each_name_and_row_once_and_in_order() {
        let log = Log::of_files();
        let source = log.source("a trace");
        log.append(source, entries(FRAME + 1, LINE));
        let mut cursor = Cursor::default();
        let mut next = || {
            log.news(&mut cursor)
                .map(|text| String::from_utf8(text.to_vec()).unwrap())
        };
        let first = next().unwrap();
        assert!(
            first.starts_with(r#"{"names":["","(others)","client","a","m"],"sources":[{"#),
            "{first}"
        );
        let second = next().unwrap();
        assert!(
            second.starts_with(&format!(
                r#"{{"first":{FRAME},"oldest":0,"rows":[[{}],"#,
                FRAME + 1
            )),
            "{second}"
        );
        assert_eq!(next(), None);
        log.ended(source);
        assert!(next().unwrap().contains(r#""has_ended":true"#));
    }

    #[test]
    fn lines_missing_on_all_connections_add_no_connection() {
        let log = Log::of_files();
        let source = log.source("a trace");
        log.append(source, entries(1, br#"{"dropped":3}"#));
        let news = log.news(&mut Cursor::default()).unwrap();
        let news = String::from_utf8(news.to_vec()).unwrap();
        assert!(news.contains(r#""connections":[]"#), "{news}");
        assert!(news.contains(r#""rows":[[1],[-1],[-1],[6],"#), "{news}");
    }

    #[test]
    fn only_the_newest_rows_of_running_chains_are_kept() {
        let log = Log::of_chains();
        let source = log.source("a chain");
        for _ in 0..60 {
            log.append(source, entries(FRAME, LINE));
        }
        let range = log.range();
        assert_eq!(range.end, 60 * FRAME as u64);
        assert!(range.end - range.start <= ROWS as u64 && range.start > 0);
        let (from, places) = log.places(0, 1);
        assert_eq!(from, range.start);
        assert_eq!(places[0].body(LINE), br#"{"a":1}"#);
    }
}
