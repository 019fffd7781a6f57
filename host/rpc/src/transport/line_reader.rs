//! Lines from bytes (ACP transports: one message per line).
//!
//! Memory is bounded by the line limit and one read, whatever the input; all readers together also keep the buffer of
//! one earlier line. A line over the limit is discarded as it arrives; its first and last bytes are kept, to find its
//! id.
//!
//! A line that arrives in pieces is checked piece by piece: when its end arrives, it is known whether it is a message.
//!
//! A line that is returned owns its memory, which is hardly more than its bytes: it keeps no other input alive, however
//! long it waits.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use bytestring::ByteString;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::Incoming;
use crate::Message;
use crate::Mutex;
use crate::outline::Scanner;

/// The largest read.
const READ: usize = 64 * 1024;

/// The size of the first read, and of reads after a pause: peers that send little should take little memory, and there
/// may be thousands.
const FIRST_READ: usize = 8 * 1024;

/// The length up to which the buffer of a line grows step by step.
const LONG: usize = 1024 * 1024;

/// The longest line whose buffer is kept.
const SPARE: usize = 16 * 1024 * 1024;

/// The last long line returned by any reader. Once nothing else uses it, the next long line takes over its buffer:
/// otherwise reading a long line mostly allocates and frees memory.
static LAST: Mutex<Option<ByteString>> = Mutex::new(None);

/// The capacity of the buffer that is kept while nothing arrives, in bytes.
const KEPT_ROOM: usize = 512;

/// How many bytes of either end of a line over the limit are kept.
const KEPT: usize = 4 * 1024;

/// A message as it was received.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its newline.
    Line(Bytes),
    /// A message whose envelope was read already.
    Message(Message),
    /// A line over the limit.
    TooLong {
        /// Its first bytes.
        head: Bytes,
        /// Its last bytes.
        tail: Bytes,
        /// Its length, in bytes.
        len: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// An incomplete line at the end of the stream.
    Torn(Bytes),
}

impl Frame {
    /// The bytes of a complete line.
    pub fn into_line(self) -> Option<Bytes> {
        match self {
            Self::Line(line) => Some(line),
            Self::Message(message) => Some(message.into_line()),
            Self::TooLong { .. } | Self::Torn(_) => None,
        }
    }
}

/// Splits a stream into lines.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    /// Bytes that were read and belong to no line yet.
    buffer: BytesMut,
    /// The line that is still arriving.
    line: Option<PartialLine>,
    /// The size of the next read.
    read: usize,
    limit: usize,
    ended: bool,
}

/// The part of a line that has arrived.
#[derive(Debug)]
enum PartialLine {
    /// Text, and the state of its scanner.
    Text(String, Box<Scanner>),
    /// Not UTF-8.
    Bytes(Vec<u8>),
    /// Over the limit.
    Dropped(DroppedLine),
}

#[derive(Debug, Default)]
struct DroppedLine {
    head: BytesMut,
    tail: BytesMut,
    len: u64,
}

impl DroppedLine {
    fn of(pieces: &[&[u8]]) -> Self {
        let mut dropped = Self::default();
        for piece in pieces {
            dropped.take_in(piece);
        }
        dropped
    }

    fn take_in(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let more = bytes.len().min(KEPT - self.head.len());
        self.head.extend_from_slice(&bytes[..more]);
        let new = &bytes[bytes.len().saturating_sub(KEPT)..];
        let keep = (KEPT - new.len()).min(self.tail.len());
        self.tail.advance(self.tail.len() - keep);
        self.tail.extend_from_slice(new);
    }

    fn finish(self, limit: usize) -> Frame {
        Frame::TooLong {
            head: self.head.freeze(),
            tail: self.tail.freeze(),
            len: self.len,
            limit,
        }
    }
}

impl PartialLine {
    /// How many bytes of the line are kept.
    fn held(&self) -> usize {
        match self {
            Self::Text(text, _) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Dropped(ends) => ends.head.len() + ends.tail.len(),
        }
    }

    /// Adds a piece of the line; `is_last` tells whether the line ends behind it. Returns how many bytes were added: an
    /// incomplete character waits for its rest.
    fn take_in(&mut self, more: &[u8], limit: usize, is_last: bool) -> usize {
        match self {
            Self::Text(text, _) if text.len() + more.len() > limit => {
                *self = Self::Dropped(DroppedLine::of(&[text.as_bytes(), more]));
            }
            Self::Bytes(bytes) if bytes.len() + more.len() > limit => {
                *self = Self::Dropped(DroppedLine::of(&[bytes, more]));
            }
            Self::Text(text, scanner) => {
                let whole = if is_last {
                    more.len()
                } else {
                    end_of_whole(more)
                };
                if let Ok(more) = str::from_utf8(&more[..whole]) {
                    if text.len() >= LONG && text.len() + more.len() > text.capacity() {
                        widen(text, limit);
                    }
                    text.push_str(more);
                    scanner.read(text);
                    return whole;
                }
                let mut bytes = std::mem::take(text).into_bytes();
                bytes.extend_from_slice(more);
                *self = Self::Bytes(bytes);
            }
            Self::Bytes(bytes) => bytes.extend_from_slice(more),
            Self::Dropped(ends) => ends.take_in(more),
        }
        more.len()
    }

    /// The frame of a line that has ended, or that is torn as the stream has ended; `None` if it is blank.
    fn finish(self, limit: usize, is_torn: bool) -> Option<Frame> {
        let line = match self {
            Self::Dropped(ends) => return Some(ends.finish(limit)),
            Self::Text(mut text, scanner) => {
                text.shrink_to(text.len() + text.len() / 8);
                let line = ByteString::from(text);
                if !is_torn
                    && let Ok(outline) = scanner.finish()
                    && let Ok(message) = Message::outlined(line.clone(), outline)
                {
                    keep(line);
                    return Some(Frame::Message(message));
                }
                line.into_bytes()
            }
            Self::Bytes(mut bytes) => {
                bytes.shrink_to(bytes.len() + bytes.len() / 8);
                bytes.into()
            }
        };
        if is_blank(&line) {
            None
        } else if is_torn {
            Some(Frame::Torn(line))
        } else {
            Some(Frame::Line(line))
        }
    }
}

/// Reserves all the memory that a line may need, since it would be copied several times to grow step by step.
fn widen(text: &mut String, limit: usize) {
    let last = LAST.lock().take();
    if let Some(mut spare) = last.and_then(|last| last.into_bytes().try_into_mut().ok())
        && spare.capacity() > text.capacity()
    {
        spare.clear();
        if let Ok(mut spare) = String::from_utf8(spare.into()) {
            spare.push_str(text);
            *text = spare;
            return;
        }
    }
    // Systems provide memory only for the part that is written. If the reservation fails, the buffer grows in steps.
    let _ = text.try_reserve_exact(limit - text.len());
}

/// Keeps a line that is returned, to reuse its buffer.
fn keep(line: ByteString) {
    if (LONG..=SPARE).contains(&line.len()) {
        *LAST.lock() = Some(line);
    }
}

/// The end of the last complete character, if this is UTF-8.
fn end_of_whole(text: &[u8]) -> usize {
    let cut = text.iter().rev().take(3);
    let lead = cut
        .take_while(|byte| !byte.is_ascii())
        .position(|byte| *byte >= 0xc0);
    let Some(behind) = lead else {
        return text.len();
    };
    let start = text.len() - 1 - behind;
    let len = match text[start] {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    };
    if behind + 1 < len { start } else { text.len() }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

impl<R: AsyncRead + Send + Unpin> Incoming for LineReader<R> {
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        self.poll_fill(context)
    }

    fn next_frame(&mut self) -> Option<Frame> {
        LineReader::next_frame(self)
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most `limit` bytes.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            buffer: BytesMut::new(),
            line: None,
            read: FIRST_READ,
            limit,
            ended: false,
        }
    }

    /// Waits for more bytes; `Ok(false)` at the end of the stream. Cancel safe.
    pub async fn fill(&mut self) -> io::Result<bool> {
        poll_fn(|context| self.poll_fill(context)).await
    }

    fn poll_fill(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        let is_little = self.buffer.is_empty() && self.read == FIRST_READ;
        let polled = if is_little {
            self.poll_little(context)
        } else {
            self.buffer.reserve(self.read);
            let mut room = (&mut self.buffer).limit(self.read);
            pin!(self.input.read_buf(&mut room)).poll(context)
        };
        if polled.is_pending() && self.buffer.is_empty() && self.line.is_none() {
            // The peer may be silent for long, and there may be thousands of such peers.
            self.read = FIRST_READ;
            if self.buffer.capacity() > KEPT_ROOM {
                self.buffer = BytesMut::new();
            }
        }
        let count = ready!(polled)?;
        if count == self.read {
            self.read = (2 * count).min(READ);
        }
        self.ended = count == 0;
        Poll::Ready(Ok(count > 0))
    }

    /// Reads, and allocates only if something has arrived.
    fn poll_little(&mut self, context: &mut Context) -> Poll<io::Result<usize>> {
        let mut bytes = [MaybeUninit::uninit(); FIRST_READ];
        let mut read = ReadBuf::uninit(&mut bytes);
        ready!(Pin::new(&mut self.input).poll_read(context, &mut read))?;
        self.buffer.extend_from_slice(read.filled());
        Poll::Ready(Ok(read.filled().len()))
    }

    /// The next complete line. Empty lines are skipped.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer) else {
                self.take_in(self.buffer.len(), self.ended);
                let torn = self.line.take_if(|_| self.ended);
                return torn.and_then(|line| line.finish(self.limit, true));
            };
            let frame = if self.line.is_some() || end > self.limit {
                self.take_in(end, true);
                let line = self.line.take();
                line.and_then(|line| line.finish(self.limit, false))
            } else {
                let line = Bytes::copy_from_slice(&self.buffer[..end]);
                self.buffer.advance(end);
                (!is_blank(&line)).then_some(Frame::Line(line))
            };
            self.buffer.advance(1);
            if frame.is_some() {
                return frame;
            }
        }
    }

    /// Moves this many bytes from the buffer to the line that is still arriving, except an incomplete character.
    fn take_in(&mut self, count: usize, is_last: bool) {
        if count > 0 {
            let begin = || PartialLine::Text(String::new(), Box::default());
            let line = self.line.get_or_insert_with(begin);
            let taken = line.take_in(&self.buffer[..count], self.limit, is_last);
            self.buffer.advance(taken);
        }
    }

    /// How many bytes are kept of lines not returned yet.
    pub fn held(&self) -> usize {
        self.buffer.len() + self.unfinished()
    }

    /// How many bytes are allocated for lines not returned yet.
    pub fn room(&self) -> usize {
        self.buffer.capacity() + self.unfinished()
    }

    fn unfinished(&self) -> usize {
        self.line.as_ref().map_or(0, PartialLine::held)
    }
}

#[cfg(test)]
mod tests {
    use std::iter::Cycle;
    use std::pin::Pin;
    use std::slice;
    use std::task::Waker;

    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use tokio::io::{AsyncWriteExt, ReadBuf};

    use super::*;
    use crate::outline::tests::line;

    async fn frames(input: impl AsyncRead + Unpin, limit: usize) -> Vec<Frame> {
        let mut reader = LineReader::new(input, limit);
        let mut frames = Vec::new();
        loop {
            let more = reader.fill().await.unwrap();
            while let Some(frame) = reader.next_frame() {
                frames.push(frame);
            }
            if !more {
                return frames;
            }
        }
    }

    #[tokio::test]
    async fn lines_are_returned_whole_and_empty_ones_are_skipped() {
        let found = frames(&b"{}\n\n \r\n[1]\r\n{\"torn\":"[..], 100).await;
        let line = |text: &'static str| Bytes::from_static(text.as_bytes());
        assert_eq!(
            found,
            [
                Frame::Line(line("{}")),
                Frame::Line(line("[1]\r")),
                Frame::Torn(line("{\"torn\":"))
            ]
        );
    }

    #[tokio::test]
    async fn a_line_keeps_no_other_input_alive() {
        for len in [
            1,
            100,
            4097,
            40_000,
            READ,
            READ + 1,
            200_000,
            LONG,
            2 * LONG,
        ] {
            let input = [&*b"x".repeat(len), b"\n", &*b"y".repeat(70_000), b"\n"].concat();
            for frame in frames(&*input, 1 << 22).await {
                let Frame::Line(line) = frame else {
                    panic!("a line came")
                };
                let len = line.len();
                assert!(line.is_unique(), "{len}");
                let capacity = BytesMut::from(line).capacity();
                assert!(capacity <= len + len / 8, "{len}: {capacity}");
            }
        }
    }

    #[tokio::test]
    async fn a_silent_peer_takes_hardly_any_memory() {
        for len in [10, 3000, 9000, 1_000_000] {
            let (input, mut writer) = tokio::io::duplex(1 << 20);
            let mut reader = LineReader::new(input, 1 << 20);
            writer.write_all(&b"x".repeat(len)).await.unwrap();
            writer.write_all(b"\n").await.unwrap();
            while reader.next_frame().is_none() {
                assert!(reader.fill().await.unwrap());
            }
            let waits = poll_fn(|context| Poll::Ready(reader.poll_fill(context).is_pending()));
            assert!(waits.await);
            assert!(reader.room() <= KEPT_ROOM, "{len}: {}", reader.room());
        }
    }

    #[tokio::test]
    async fn a_line_over_the_limit_leaves_only_its_ends() {
        let mut input = b"head".to_vec();
        input.extend(std::iter::repeat_n(b'x', 1_000_000));
        input.extend(b"tail\n{}\n");
        let found = frames(&*input, 100_000).await;
        let Frame::TooLong {
            head, tail, len, ..
        } = &found[0]
        else {
            panic!("{found:?}")
        };
        assert!(head.starts_with(b"head") && head.len() == KEPT);
        assert!(tail.ends_with(b"xtail") && tail.len() == KEPT);
        assert_eq!(*len, 1_000_008);
        assert_eq!(found[1], Frame::Line(Bytes::from_static(b"{}")));
    }

    /// A stream that comes in pieces of these lengths, in turn.
    struct Pieces<'d> {
        stream: &'d [u8],
        lengths: Cycle<slice::Iter<'d, usize>>,
    }

    impl<'d> Pieces<'d> {
        fn of(stream: &'d [u8], lengths: &'d [usize]) -> Self {
            let lengths = lengths.iter().cycle();
            Self { stream, lengths }
        }
    }

    impl AsyncRead for Pieces<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context,
            buffer: &mut ReadBuf,
        ) -> Poll<io::Result<()>> {
            let length = self.lengths.next().copied().unwrap_or(usize::MAX);
            let length = length.min(buffer.remaining()).min(self.stream.len());
            let (piece, rest) = self.stream.split_at(length);
            buffer.put_slice(piece);
            self.stream = rest;
            Poll::Ready(Ok(()))
        }
    }

    /// All properties of a message.
    fn known(message: &Message) -> impl PartialEq + std::fmt::Debug {
        (
            message.line().to_owned(),
            (message.kind(), message.method().clone(), message.id()),
            (message.body().to_owned(), message.session().cloned()),
            message.is_ambiguous(),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn a_line_in_pieces_is_read_like_the_whole_line(
            text in line(),
            fields in select(&["\"method\":\"m\",\"params\"", "\"id\":7,\"result\"", "\"result\""]),
            broken in prop::option::of((any::<Index>(), 0x80..=u8::MAX)),
            lengths in prop::collection::vec(1..20_usize, 1..8),
        ) {
            let text = format!("{{\"jsonrpc\":\"2.0\",{fields}:{text}}}").replace('\n', " ");
            let mut bytes = text.into_bytes();
            if let Some((at, byte)) = broken {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let stream = [&bytes, &b"\n"[..]].concat();
            let found = pin!(frames(Pieces::of(&stream, &lengths), 1 << 20));
            let Poll::Ready(found) = found.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("it waits")
            };
            match (&found[..], Message::parse(bytes.clone().into())) {
                ([Frame::Message(found)], Ok(message)) => {
                    prop_assert_eq!(known(found), known(&message));
                }
                ([Frame::Line(found)], Err(_)) => prop_assert_eq!(found, &bytes),
                (found, message) => panic!("{found:?} of what is {message:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_long_message_leaves_its_buffer_to_the_next() {
        let message = |text: &str| {
            let text = text.repeat(2 * LONG / text.len());
            let method = r#""jsonrpc":"2.0","method":"m""#;
            format!("{{{method},\"params\":{{\"sessionId\":\"s\",\"a\":\"{text}\"}}}}\n")
        };
        let stream = [message("one, "), message("日本"), message("three")].concat();
        let mut reader = LineReader::new(stream.as_bytes(), 64 * LONG);
        let (mut first, mut places, mut lines) = (None, Vec::new(), stream.lines());
        while reader.fill().await.unwrap() {
            while let Some(frame) = reader.next_frame() {
                let Frame::Message(message) = frame else {
                    panic!("{frame:?}")
                };
                assert_eq!(Some(message.line()), lines.next());
                assert_eq!(message.session().map(|session| &**session), Some("s"));
                places.push(message.line().as_ptr());
                let last = LAST.lock();
                assert_eq!(
                    last.as_ref().map(|last| last.as_ptr()),
                    places.last().copied()
                );
                // The first message is kept while the second arrives.
                first.get_or_insert(message);
            }
        }
        assert!(lines.next().is_none());
        assert_ne!(places[0], places[1]);
        assert_eq!(places[1], places[2]);
    }

    #[tokio::test]
    async fn the_kept_ends_do_not_depend_on_the_pieces_of_a_line() {
        let (input, mut writer) = tokio::io::duplex(1);
        let write = async {
            writer.write_all(b"abc\n").await.unwrap();
            drop(writer);
        };
        let (found, ()) = tokio::join!(frames(input, 1), write);
        let expected = Frame::TooLong {
            head: Bytes::from_static(b"abc"),
            tail: Bytes::from_static(b"abc"),
            len: 3,
            limit: 1,
        };
        assert_eq!(found, [expected]);
    }
}
