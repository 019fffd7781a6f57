//! Lenience at the edge: repairs lines of another end before they are read as messages.
//!
//! | Input | Repair |
//! |---|---|
//! | control characters and terminal sequences (ECMA-48: titles, colours, cursors) around a message | they are removed
//! |
//! | several messages in a line | a line for each, up to [`VALUES`] |
//! | words, a carriage return and a message, as programs that show progress write | a line for each |
//! | a message over several lines | one line, up to [`LINES`] and [`BYTES`], unless the next one takes longer than [`PATIENCE`] |
//! | a message without `jsonrpc`, or with the number 2 there | `"jsonrpc": "2.0"`, if it has no member but JSON-RPC's |
//! | an answer without an id | `"id": null`, if it has no other member |
//! | an answer without an outcome | `"result": {}`, if it has no other member |
//! | bytes in a string that are not UTF-8 | U+FFFD for them, up to [`BYTES`] with these |
//! | control characters in a string | they are escaped, up to [`BYTES`] with these |
//!
//! Invariants: a line that is a message is not changed. A repaired line is read by the same strict rules as any other:
//! guards see what the other side will read. It owns its memory, like all lines. No byte is lost: a text that cannot be
//! repaired stays a line, which is malformed.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::pin::Pin;
use std::str::Utf8Chunk;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::time::{Sleep, sleep};

use super::{Frame, Incoming};
use crate::{Error, Malformed, Message, read, set};

/// The maximum number of lines that are joined into one message.
pub const LINES: usize = 64 * 1024;

/// The maximum length of a message that is joined from several lines, in bytes.
pub const BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of messages in a line, as in a batch: each takes many times the memory of its text.
pub const VALUES: usize = 4096;

/// How long an incomplete message waits for its next line.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The messages of another end, with repairs.
pub struct LenientReader<I> {
    incoming: I,
    repairs: Repairs,
    /// Ends the wait for the next line of an incomplete message.
    patience: Option<Pin<Box<Sleep>>>,
    has_ended: bool,
}

impl<I> LenientReader<I> {
    /// Repairs the lines of `incoming`.
    pub fn new(incoming: I) -> Self {
        Self {
            incoming,
            repairs: Repairs::default(),
            patience: None,
            has_ended: false,
        }
    }
}

impl<I: Incoming> Incoming for LenientReader<I> {
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        let polled = self.incoming.poll_read(context);
        if polled.is_ready() || self.repairs.kept.is_empty() {
            self.patience = None;
            self.has_ended |= matches!(polled, Poll::Ready(Ok(false)));
            return polled;
        }
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        ready!(patience.as_mut().poll(context));
        self.patience = None;
        let kept = self.repairs.give_up().map(Frame::Line);
        self.repairs.ready.extend(kept);
        Poll::Ready(Ok(true))
    }

    fn next_frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.repairs.ready.pop_front() {
                return Some(frame);
            }
            match self.incoming.next_frame() {
                Some(frame) => {
                    if let Some(frame) = self.repairs.take(frame) {
                        return Some(frame);
                    }
                }
                None if self.has_ended => return self.repairs.give_up().map(Frame::Torn),
                None => return None,
            }
        }
    }
}

/// The frames of a complete text, such as a frame of a WebSocket.
pub fn frames(text: Bytes) -> Vec<Frame> {
    let mut repairs = Repairs::default();
    let first = repairs.take(Frame::Line(text));
    let rest = repairs.give_up().map(Frame::Line);
    let frames = first.into_iter().chain(repairs.ready).chain(rest);
    frames.collect()
}

/// The one message of a text, such as the body of a request over HTTP. More than one message is none.
///
/// # Errors
/// The error for the sender, if there is no message or more than one.
pub fn one(text: Bytes) -> Result<Message, Error> {
    let error = match Message::parse(text.clone()) {
        Ok(message) => return Ok(message),
        Err(malformed) => malformed.to_error(),
    };
    let mut repaired = frames(text).into_iter();
    match (repaired.next(), repaired.next()) {
        (Some(frame), None) => read(frame).map_err(|malformed| malformed.error),
        _ => Err(error),
    }
}

#[derive(Debug, Default)]
struct Repairs {
    /// The beginning of a message that continues in the next line.
    kept: BytesMut,
    lines: usize,
    /// How many objects and arrays are open at the end of `kept`.
    depth: i64,
    /// The length of `kept` when it was last parsed, and found incomplete.
    read: usize,
    ready: VecDeque<Frame>,
}

/// The first value of a text.
enum Value<'t> {
    /// A complete value, and the text behind it.
    Whole(&'t str, &'t [u8]),
    /// An incomplete value, with this many open objects and arrays.
    Begun(i64),
    /// Neither an object nor an array.
    None,
}

impl Repairs {
    /// Repairs a frame. Returns the first resulting frame, if any; further ones are in `ready`.
    #[inline]
    fn take(&mut self, frame: Frame) -> Option<Frame> {
        let (line, is_torn) = match frame {
            Frame::Line(line) => match Message::parse(line.clone()) {
                Ok(message) if self.kept.is_empty() => return Some(Frame::Message(message)),
                Ok(message) => return self.interrupted(Frame::Message(message)),
                // A batch is read message by message later.
                Err(Malformed::Batch) if self.kept.is_empty() => return Some(Frame::Line(line)),
                Err(_) => (line, false),
            },
            Frame::Torn(line) => (line, true),
            frame if self.kept.is_empty() => return Some(frame),
            frame => return self.interrupted(frame),
        };
        self.repair(&line);
        if is_torn && let Some(rest) = self.give_up() {
            self.ready.push_back(Frame::Torn(rest));
        }
        self.ready.pop_front()
    }

    /// Handles a frame that does not continue the kept beginning.
    #[cold]
    fn interrupted(&mut self, frame: Frame) -> Option<Frame> {
        let kept = self.give_up().map(Frame::Line);
        self.ready.extend(kept.into_iter().chain([frame]));
        self.ready.pop_front()
    }

    /// Takes the kept beginning of a message that is not continued.
    fn give_up(&mut self) -> Option<Bytes> {
        let kept = self.kept.split().freeze();
        (self.lines, self.depth, self.read) = (0, 0, 0);
        (!kept.is_empty()).then_some(kept)
    }

    #[cold]
    fn repair(&mut self, line: &Bytes) {
        if self.kept.is_empty() {
            return self.begin(line);
        }
        let before = self.kept.len();
        let more = bare(line);
        let Some(change) = depth_of(more) else {
            return self.not_more(line, before);
        };
        self.kept.extend_from_slice(b"\n");
        self.kept.extend_from_slice(more);
        self.lines += 1;
        self.depth += change;
        if self.lines > LINES || self.kept.len() > BYTES {
            return self.not_more(line, before);
        }
        // Each parse reads all of it, so it is parsed only when it may be complete, or its length has doubled.
        if self.depth > 0 && self.kept.len() < 2 * self.read {
            return;
        }
        match first(&self.kept) {
            Value::Begun(_) => self.read = self.kept.len(),
            Value::None => self.not_more(line, before),
            Value::Whole(..) => {
                let text = self.give_up().unwrap_or_default();
                self.begin(&text);
            }
        }
    }

    /// Handles a line that does not continue the kept beginning, which had `before` bytes.
    fn not_more(&mut self, line: &Bytes, before: usize) {
        self.kept.truncate(before);
        let kept = self.give_up().map(Frame::Line);
        self.ready.extend(kept);
        self.begin(line);
    }

    /// Splits a text into its values; keeps an incomplete one.
    fn begin(&mut self, text: &Bytes) {
        let mut rest = bare(text);
        let mut count = 0;
        while !rest.is_empty() {
            let value = if count < VALUES {
                first(rest)
            } else {
                Value::None
            };
            match value {
                Value::Whole(value, behind) => {
                    rest = bare(behind);
                    let line = part(text, value.as_bytes());
                    self.ready.push_back(Frame::Line(line));
                }
                Value::Begun(depth) if rest.len() <= BYTES => {
                    self.kept.extend_from_slice(rest);
                    (self.lines, self.depth, self.read) = (1, depth, rest.len());
                    return;
                }
                Value::Begun(_) | Value::None => {
                    let behind = behind_return(rest).filter(|_| count < VALUES);
                    // If there were no values before, the text is unchanged.
                    let left = match behind {
                        Some(at) => &rest[..at],
                        None if count == 0 => text,
                        None => rest,
                    };
                    self.ready.push_back(Frame::Line(part(text, left)));
                    let Some(at) = behind else {
                        return;
                    };
                    rest = bare(&rest[at..]);
                }
            }
            count += 1;
        }
    }
}

/// The place behind a carriage return in a text, at which a message seems to begin: terminals show what follows in the
/// place of the text, which shows progress. They may have to erase it first (ECMA-48 §8.3.41). A text that begins like a
/// message is none of these, so that none is read again and again.
fn behind_return(text: &[u8]) -> Option<usize> {
    const ERASE: [&[u8]; 4] = [b"", b"\x1b[K", b"\x1b[0K", b"\x1b[2K"];
    if text.starts_with(b"{") {
        return None;
    }
    let begins = |behind: &[u8]| {
        let mut rests = ERASE.iter().filter_map(|erase| behind.strip_prefix(*erase));
        rests.any(|rest| rest.starts_with(b"{"))
    };
    let mut returns = memchr::memchr_iter(b'\r', text).map(|at| at + 1);
    returns.find(|at| begins(&text[*at..]))
}

/// A part of a text as a separate line, which does not keep the rest of the text alive.
fn part(text: &Bytes, part: &[u8]) -> Bytes {
    if part.len() < text.len() {
        Bytes::copy_from_slice(part)
    } else {
        text.clone()
    }
}

fn first(text: &[u8]) -> Value<'_> {
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return Value::None;
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(value)) => Value::Whole(value.get(), &text[values.byte_offset()..]),
        Some(Err(error)) if error.is_eof() => depth_of(text).map_or(Value::None, Value::Begun),
        Some(Err(_)) | None => Value::None,
    }
}

/// By how much a text changes the number of open objects and arrays; `None` if it ends within a string, where a message
/// cannot be split.
fn depth_of(text: &[u8]) -> Option<i64> {
    let (mut depth, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => depth -= 1,
            _ => {}
        }
    }
    (!is_string).then_some(depth)
}

/// A text without control characters and terminal sequences at its beginning (ECMA-48 §5.4, §8.3.89). White space and a
/// byte order mark are removed, too (RFC 8259 §8.1).
fn bare(mut text: &[u8]) -> &[u8] {
    loop {
        text = match text {
            [0x1b, b'[', rest @ ..] => {
                let parameters = rest.iter().take_while(|byte| matches!(byte, 0x20..=0x3f));
                let rest = &rest[parameters.count()..];
                let has_end = matches!(rest.first(), Some(0x40..=0x7e));
                &rest[usize::from(has_end)..]
            }
            [0x1b, b']' | b'P' | b'X' | b'^' | b'_', rest @ ..] => match end_of_text(rest) {
                Some(end) => &rest[end..],
                None => return text,
            },
            [0x1b, 0x20..=0x2f, 0x30..=0x7e, rest @ ..]
            | [0x1b, 0x30..=0x7e, rest @ ..]
            | [0xef, 0xbb, 0xbf, rest @ ..]
            | [0x00..=0x20 | 0x7f, rest @ ..] => rest,
            text => return text,
        };
    }
}

/// The position behind the text in a terminal sequence, which a bell or a string terminator ends. Nothing behind that
/// is read: a line may have many sequences.
fn end_of_text(text: &[u8]) -> Option<usize> {
    let mut ends = memchr::memchr2_iter(0x07, 0x1b, text);
    ends.find_map(|at| match text.get(at..)? {
        [0x07, ..] => Some(at + 1),
        [0x1b, b'\\', ..] => Some(at + 2),
        _ => None,
    })
}

/// A message with no other members than JSON-RPC's, whose version may be missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members<'t> {
    #[serde(borrow)]
    jsonrpc: Option<&'t RawValue>,
    id: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
    params: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Members<'_> {
    /// Whether it has an id, and nothing else but nulls.
    fn is_empty_answer(&self) -> bool {
        let others = [&self.method, &self.params, &self.result, &self.error];
        self.id.is_some() && others.into_iter().all(Option::is_none)
    }

    /// Whether it has an outcome, and nothing else but nulls.
    fn is_nameless_answer(&self) -> bool {
        let others = [&self.id, &self.method, &self.params];
        let has_outcome = self.result.is_some() || self.error.is_some();
        has_outcome && others.into_iter().all(Option::is_none)
    }
}

/// The message of a text that only lacks the version of JSON-RPC, or the id or the outcome of an answer.
#[cold]
pub(crate) fn completed(text: &[u8]) -> Option<Message> {
    let members: Members = serde_json::from_slice(text).ok()?;
    let (place, value) = match members.jsonrpc.map(RawValue::get) {
        None | Some("2" | "2.0") => ("/jsonrpc", r#""2.0""#),
        // Where a result has no content, some software leaves it out. Results of ACP are objects, and some readers take
        // no null for one.
        Some(r#""2.0""#) if members.is_empty_answer() => ("/result", "{}"),
        // Some software answers notifications.
        Some(r#""2.0""#) if members.is_nameless_answer() => ("/id", "null"),
        Some(_) => return None,
    };
    let text = set(str::from_utf8(text).ok()?, place, value).ok()?;
    Message::parse(text.into()).ok()
}

/// The message of a text in which bytes are not UTF-8, as most readers decode it: with U+FFFD for these bytes. Only
/// strings can have such bytes. Each of them may become three, so what they become is counted before it is made.
#[cold]
pub(crate) fn decoded(text: &[u8]) -> Option<Message> {
    let length = |chunk: Utf8Chunk<'_>| {
        let is_replaced = !chunk.invalid().is_empty();
        chunk.valid().len() + usize::from(is_replaced) * char::REPLACEMENT_CHARACTER.len_utf8()
    };
    if text.utf8_chunks().map(length).sum::<usize>() > BYTES {
        return None;
    }
    let text = Bytes::from(String::from_utf8_lossy(text).into_owned());
    let parsed = Message::parse(text.clone());
    parsed.ok().or_else(|| completed(&text))
}

/// The message of a text with control characters in its strings, as programs write that put JSON together themselves:
/// with escapes for them (RFC 8259 §7).
#[cold]
pub(crate) fn escaped(text: &[u8]) -> Option<Message> {
    let text = str::from_utf8(text).ok()?.trim();
    if !text.starts_with('{') || !text.contains(char::is_control) {
        return None;
    }
    let mut whole = String::with_capacity(text.len());
    let (mut is_string, mut is_escaped) = (false, false);
    for letter in text.chars() {
        // A backslash in front of one would become a part of another escape.
        if whole.len() > BYTES || is_escaped && letter < ' ' {
            return None;
        }
        if is_string && letter < ' ' {
            // Writing to a string never fails.
            let _ = write!(whole, "\\u{:04x}", u32::from(letter));
            continue;
        }
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_string => is_escaped = true,
            '"' => is_string = !is_string,
            _ => {}
        }
        whole.push(letter);
    }
    let text = Bytes::from(whole);
    let parsed = Message::parse(text.clone());
    parsed.ok().or_else(|| completed(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::code;
    use crate::transport::LineReader;
    use tokio::io::AsyncWriteExt;

    /// The results for these lines: messages, and malformed lines in brackets.
    fn read_all(lines: &[&str]) -> Vec<String> {
        let mut repairs = Repairs::default();
        let mut frames = Vec::new();
        for line in lines {
            let line = Bytes::copy_from_slice(line.as_bytes());
            frames.extend(repairs.take(Frame::Line(line)));
            frames.extend(repairs.ready.drain(..));
        }
        frames.extend(repairs.give_up().map(Frame::Torn));
        frames.into_iter().map(shown).collect()
    }

    fn shown(frame: Frame) -> String {
        let text = match &frame {
            Frame::Line(line) | Frame::Torn(line) => String::from_utf8_lossy(line).into_owned(),
            _ => String::new(),
        };
        match read(frame) {
            Ok(message) => message.line().to_owned(),
            Err(_) => format!("({text})"),
        }
    }

    const ONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"a":"}{"}}"#;
    const TWO: &str = r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#;

    #[test]
    fn terminal_sequences_around_messages_are_removed() {
        for around in [
            "\x1b]0;ready\x07",
            "\x1b]0;a \"title\" {\x1b\\",
            "\x1b]8;;https://example.com\x1b\\",
            "\x1b[0m",
            "\x1b[?25l\x1b[2K\x1b[1;31m",
            "\x1b(B\x1b=\x1b7",
            "\x1bP1$r0m\x1b\\",
            "\u{feff}\r\0\x08\x07",
        ] {
            assert_eq!(read_all(&[&format!("{around}{ONE}")]), [ONE], "{around:?}");
            assert_eq!(read_all(&[&format!("{ONE}{around}")]), [ONE], "{around:?}");
            let two = format!("{ONE}{around}{TWO}");
            assert_eq!(read_all(&[&two]), [ONE, TWO], "{around:?}");
            assert!(read_all(&[around]).is_empty(), "{around:?}");
        }
        // Within a message, a terminal sequence makes it malformed.
        let within = r#"{"jsonrpc":"2.0",#"id":1,"result":1}"#.replace('#', "\x1b[0m");
        assert_eq!(read_all(&[&within]), [format!("({within})")]);
        // A title without an end is not removed.
        let open = format!("\x1b]0;{ONE}");
        assert_eq!(read_all(&[&open]), [format!("({open})")]);
    }

    #[test]
    fn a_line_may_have_many_terminal_sequences() {
        // To look for another end behind the first one of each would take minutes.
        for many in ["\x1b]\x07", "\x1b]\x1b\\", "\x1b]\x1b[m\x07"] {
            let line = many.repeat(1 << 20) + ONE;
            assert_eq!(read_all(&[&line]), [ONE], "{many:?}");
        }
    }

    #[test]
    fn messages_in_a_line_are_bounded() {
        let line = "{}".repeat(VALUES + 3);
        let read = read_all(&[&line]);
        assert_eq!(read.len(), VALUES + 1);
        assert_eq!(read.last().unwrap(), "({}{}{})");
    }

    #[test]
    fn messages_in_a_line_are_split() {
        assert_eq!(read_all(&[&format!("{ONE}{TWO} {ONE}\t")]), [ONE, TWO, ONE]);
        let with_text = format!("{ONE} done");
        assert_eq!(read_all(&[&with_text]), [ONE, "(done)"]);
        let behind_text = format!("ready {ONE}");
        assert_eq!(read_all(&[&behind_text]), [format!("({behind_text})")]);
        assert_eq!(
            read_all(&[&format!(r#"{{"a":1}}{ONE}7"#)]),
            [r#"({"a":1})"#, ONE, "(7)"]
        );
    }

    #[test]
    fn a_message_behind_what_shows_progress_is_found() {
        for erase in ["", "\x1b[K", "\x1b[2K"] {
            let line = format!("50 %\r100 %\r{erase}{ONE}\r[done]\r{erase}{TWO}");
            let expected = ["(50 %\r100 %\r)", ONE, "([done]\r)", TWO];
            assert_eq!(read_all(&[&line]), expected);
        }
        // What begins like a message is no such words, and a text in one has no such message.
        for whole in [
            format!(r#"{{"level":"info"\r{ONE}"#).replace(r"\r", "\r"),
            format!("words {ONE}"),
            format!("words \r words {ONE}"),
        ] {
            assert_eq!(read_all(&[&whole]), [format!("({whole})")]);
        }
        let line = format!("{}{ONE}", "x\r{".repeat(1 << 20));
        assert!(read_all(&[&line]).len() <= 2);
    }

    #[test]
    fn a_message_over_several_lines_is_joined() {
        let pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {\n    \"a\": \"}{\",\n    \"b\": []\n  }\n}";
        let lines: Vec<_> = pretty.lines().collect();
        let joined = lines.iter().map(|line| line.trim_start());
        let joined = joined.collect::<Vec<_>>().join(" ");
        assert_eq!(read_all(&lines), [joined]);
        let behind: Vec<_> = lines.iter().copied().chain([TWO]).collect();
        assert_eq!(read_all(&behind)[1], TWO);
        // The end of one and the beginning of the next in one line.
        let [begin, middle, end] = [
            r#"{"jsonrpc":"2.0","id":1,"#,
            r#""result":1}{"jsonrpc":"2.0","#,
            r#""method":"m"}"#,
        ];
        assert_eq!(
            read_all(&[begin, middle, end]),
            [
                r#"{"jsonrpc":"2.0","id":1, "result":1}"#,
                r#"{"jsonrpc":"2.0", "method":"m"}"#
            ]
        );
    }

    #[test]
    fn an_incomplete_message_hides_nothing_that_follows() {
        for begun in ["{", "[", r#"{"level":"info","#, r#"{"x":"#] {
            assert_eq!(
                read_all(&[begun, ONE, TWO]),
                [format!("({begun})").as_str(), ONE, TWO]
            );
            assert_eq!(read_all(&[begun, "words", ONE]).last().unwrap(), ONE);
            assert_eq!(read_all(&[begun]), [format!("({begun})")]);
        }
        assert_eq!(
            read_all(&[r#"{"x":"in a string"#, ONE]),
            [r#"({"x":"in a string)"#, ONE]
        );
        assert_eq!(
            read_all(&["[INFO] ready {", ONE]),
            ["([INFO] ready {)", ONE]
        );
    }

    #[test]
    fn a_text_of_one_message_is_that_message() {
        for text in [
            ONE.to_owned(),
            format!("\u{feff}{ONE}\r\n"),
            format!("\x1b[0m{ONE}"),
            ONE.replace(r#""jsonrpc":"2.0","#, ""),
        ] {
            assert!(one(text.clone().into()).is_ok(), "{text}");
        }
        for (text, expected) in [
            (format!("{ONE}{ONE}"), code::PARSE_ERROR),
            (String::new(), code::PARSE_ERROR),
            ("hello".to_owned(), code::PARSE_ERROR),
            (format!("[{ONE}]"), code::INVALID_REQUEST),
            ("{}".to_owned(), code::INVALID_REQUEST),
        ] {
            let error = one(text.clone().into()).unwrap_err();
            assert_eq!(error.code, expected, "{text}");
        }
    }

    #[test]
    fn lines_and_bytes_of_one_message_are_bounded() {
        let lines = vec!["["; LINES + 10];
        let mut repairs = Repairs::default();
        let mut found = 0;
        for line in &lines {
            found += usize::from(
                repairs
                    .take(Frame::Line(Bytes::from_static(line.as_bytes())))
                    .is_some(),
            );
            assert!(repairs.lines <= LINES);
        }
        assert_eq!(found, 1);
        let long = Bytes::from(format!("[\"{}\"", "x".repeat(BYTES)));
        assert!(repairs.take(Frame::Line(long)).is_some());
        assert!(repairs.kept.len() <= BYTES);
    }

    #[test]
    fn a_missing_version_is_filled_in() {
        for (before, after) in [
            (
                r#"{"id":1,"method":"m"}"#,
                r#"{"id":1,"method":"m","jsonrpc":"2.0"}"#,
            ),
            (
                r#"{"method":"m","params":{}}"#,
                r#"{"method":"m","params":{},"jsonrpc":"2.0"}"#,
            ),
            (
                r#"{"id":"a","result":null}"#,
                r#"{"id":"a","result":null,"jsonrpc":"2.0"}"#,
            ),
            (
                r#"{"jsonrpc":2.0,"id":1,"error":{"code":1,"message":""}}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
            ),
            (
                r#"{"jsonrpc":null,"id":1,"result":1}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
            ),
        ] {
            assert_eq!(read_all(&[before]), [after]);
            let twice = format!("{before}{before}");
            assert_eq!(read_all(&[&twice]), [after, after]);
        }
        for refused in [
            r#"{"level":"info","method":"GET"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"3.0","id":1,"method":"m"}"#,
            r#"{"id":1}"#,
            r#"{"method":"a","method":"b"}"#,
            r#"{"jsonrpc":2,"jsonrpc":"2.0","id":1,"result":1}"#,
            r#"{"Method":"a","method":"b"}"#,
        ] {
            assert_eq!(read_all(&[refused]), [format!("({refused})")]);
        }
    }

    #[test]
    fn what_an_answer_lacks_is_filled_in() {
        for (before, after) in [
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","error":null}"#,
                r#"{"jsonrpc":"2.0","id":"a","error":null,"result":{}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":null,"params":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":{}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","result":{}}"#,
                r#"{"jsonrpc":"2.0","result":{},"id":null}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":""},"id":null}"#,
            ),
        ] {
            assert_eq!(read_all(&[before]), [after]);
        }
        for refused in [
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":null}"#,
            r#"{"jsonrpc":"2.0","result":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"params":{}}"#,
            r#"{"jsonrpc":"2.0","result":1,"params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"level":"info"}"#,
        ] {
            assert_eq!(read_all(&[refused]), [format!("({refused})")]);
        }
    }

    #[test]
    fn bytes_in_a_string_that_are_not_utf8_are_replaced() {
        let read_bytes = |bytes: &'static [u8]| {
            let mut repairs = Repairs::default();
            let first = repairs.take(Frame::Line(Bytes::from_static(bytes)));
            assert!(repairs.ready.is_empty() && repairs.kept.is_empty());
            shown(first.unwrap())
        };
        assert_eq!(
            read_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"caf\xe9 \xc3\xa9 \xf0\x9f\"}"),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"caf\u{fffd} \u{e9} \u{fffd}\"}"
        );
        assert_eq!(
            read_bytes(b"{\"id\":1,\"result\":\"\xe9\"}"),
            "{\"id\":1,\"result\":\"\u{fffd}\",\"jsonrpc\":\"2.0\"}"
        );
        let outside = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1\xe9}";
        assert!(read_bytes(outside).starts_with('('));
    }

    #[test]
    fn control_characters_in_a_string_are_escaped() {
        let line = |text: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{text}"}}"#);
        for (given, expected) in [
            ("a\tb", r"a\u0009b"),
            ("\x1b[31mred\x1b[0m", r"\u001b[31mred\u001b[0m"),
            ("\\\\\t\\\"\u{7f}", "\\\\\\u0009\\\"\u{7f}"),
        ] {
            assert_eq!(read_all(&[&line(given)]), [line(expected)], "{given:?}");
        }
        let without = line("a\tb").replace(r#""jsonrpc":"2.0","#, "");
        assert!(read_all(&[&without])[0].contains(r"a\u0009b"));
        // Neither an escape of its own nor anything outside of strings.
        for refused in [line("a\\\tb"), line("a").replace("1,", "1\x0b,")] {
            assert_eq!(read_all(&[&refused]), [format!("({refused})")]);
        }
        let long = line(&"\t".repeat(BYTES / 3));
        assert!(escaped(long.as_bytes()).is_none());
    }

    #[test]
    fn a_message_with_replacements_is_bounded() {
        let of = |invalid: usize| {
            let (begin, bytes) = (
                br#"{"jsonrpc":"2.0","id":1,"result":""#,
                vec![0xe9; invalid],
            );
            [begin.as_slice(), bytes.as_slice(), b"\"}"].concat()
        };
        assert!(decoded(&of(BYTES / 3 - 100)).is_some());
        assert!(decoded(&of(BYTES / 3)).is_none());
    }

    #[test]
    fn a_message_keeps_no_other_input_alive() {
        let blank = " ".repeat(100_000);
        for text in [
            format!("{ONE}{blank}{TWO}"),
            format!("\x1b[0m{ONE}{blank}words"),
        ] {
            for frame in frames(text.into()) {
                let line = frame.into_line().unwrap();
                assert!(line.is_unique());
                assert!(BytesMut::from(line).capacity() < 1000);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_incomplete_message_is_malformed_after_a_while() {
        let (mut writer, reader) = tokio::io::duplex(1024);
        let lines = LineReader::new(reader, 1024);
        let mut incoming: Box<dyn Incoming> = Box::new(LenientReader::new(lines));
        let begun = r#"{"jsonrpc":"2.0","id":1,"result":{"#;
        writer
            .write_all(format!("{begun}\n").as_bytes())
            .await
            .unwrap();
        let before = tokio::time::Instant::now();
        let frame = loop {
            if let Some(frame) = incoming.next_frame() {
                break frame;
            }
            assert!(incoming.read().await.unwrap());
        };
        assert_eq!(frame, Frame::Line(begun.into()));
        assert_eq!(before.elapsed(), PATIENCE);
    }

    proptest! {
        #[test]
        fn no_byte_of_a_message_is_lost_and_none_is_made_up(
            lines in prop::collection::vec(
                prop::sample::select(vec![ONE, TWO, "{", "}", "[", "]", "\"a\":1,", "\x1b[0m", "words", "\x1b]0;t\x07", " ", r#"{"a":1}"#, r#""s"#]),
                0..12,
            ),
        ) {
            let lines: Vec<_> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
            let whole = lines.iter().filter(|line| [ONE, TWO].contains(*line)).count();
            let found = read_all(&lines);
            // Complete messages are found, each once and in order, whatever is around them.
            let come: Vec<_> = found.iter().filter(|line| [ONE, TWO].contains(&line.as_str())).collect();
            let expected: Vec<_> = lines.iter().filter(|line| [ONE, TWO].contains(*line)).collect();
            prop_assert_eq!(come.len(), whole);
            prop_assert!(come.iter().zip(expected).all(|(one, other)| one == other));
        }
    }
}
