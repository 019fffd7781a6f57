//! Lines out of bytes (ACP transports: one message a line).
//!
//! Memory stays bounded by the line limit and one read, whatever comes in. A line over the limit
//! is thrown away while it arrives; its first and last bytes are kept, to tell whose it was.
//!
//! A line that came out owns its memory, and hardly more than its bytes take: it keeps nothing of what
//! came with it, for as long as it may wait somewhere.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::Incoming;
use crate::Message;

/// How much is asked for in one read at most.
const READ: usize = 64 * 1024;

/// And at first, and whenever there was nothing more.
const FIRST_READ: usize = 8 * 1024;

/// How much room is kept while nothing comes.
const KEPT_ROOM: usize = 512;

/// How much of either end of a line over the limit is kept.
const KEPT: usize = 4 * 1024;

/// Longer lines take the buffer over in which they came. Shorter ones are copied, and leave it to
/// those that come.
const COPIED: usize = READ;

/// One message as it came.
#[derive(Debug)]
pub enum Frame {
    /// A line without its newline.
    Line(Bytes),
    /// One whose envelope was read already, as it took that to know that it may come in.
    Message(Message),
    /// A line over the limit.
    TooLong {
        /// Its first bytes.
        head: Bytes,
        /// Its last bytes.
        tail: Bytes,
        /// How many there were.
        len: u64,
        /// How many there may be.
        limit: usize,
    },
    /// The stream ended in the middle of a line.
    Torn(Bytes),
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Line(one), Self::Line(other)) | (Self::Torn(one), Self::Torn(other)) => {
                one == other
            }
            (Self::Message(one), Self::Message(other)) => one.is_same(other),
            (
                Self::TooLong {
                    head,
                    tail,
                    len,
                    limit,
                },
                Self::TooLong {
                    head: other_head,
                    tail: other_tail,
                    len: other_len,
                    limit: other_limit,
                },
            ) => (head, tail, len, limit) == (other_head, other_tail, other_len, other_limit),
            _ => false,
        }
    }
}

impl Eq for Frame {}

/// Splits a stream into lines.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    buffer: BytesMut,
    /// Bytes of the buffer that hold no newline.
    searched: usize,
    /// How much is asked for next.
    read: usize,
    limit: usize,
    dropped: Option<Dropped>,
    ended: bool,
}

#[derive(Debug)]
struct Dropped {
    head: BytesMut,
    tail: BytesMut,
    len: u64,
}

impl Dropped {
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
            searched: 0,
            read: FIRST_READ,
            limit,
            dropped: None,
            ended: false,
        }
    }

    /// Waits for more bytes; `Ok(false)` at the end of the stream. Cancel safe.
    pub async fn fill(&mut self) -> io::Result<bool> {
        poll_fn(|context| self.poll_fill(context)).await
    }

    fn poll_fill(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        let is_little = self.buffer.is_empty() && self.read == FIRST_READ;
        let polled = match is_little {
            true => self.poll_little(context),
            false => {
                self.buffer.reserve(self.read);
                let mut room = (&mut self.buffer).limit(self.read);
                pin!(self.input.read_buf(&mut room)).poll(context)
            }
        };
        if polled.is_pending() && self.buffer.is_empty() {
            // It may be for long, and there may be thousands who say nothing.
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

    /// Reads without taking room for it before it comes.
    fn poll_little(&mut self, context: &mut Context) -> Poll<io::Result<usize>> {
        let mut bytes = [MaybeUninit::uninit(); FIRST_READ];
        let mut read = ReadBuf::uninit(&mut bytes);
        ready!(Pin::new(&mut self.input).poll_read(context, &mut read))?;
        self.buffer.extend_from_slice(read.filled());
        Poll::Ready(Ok(read.filled().len()))
    }

    /// The next line that is wholly there. Empty lines are passed over.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let unseen = &self.buffer[self.searched..];
            let Some(found) = memchr::memchr(b'\n', unseen) else {
                self.searched = self.buffer.len();
                self.shed();
                return if self.ended { self.last() } else { None };
            };
            let line = self.take(self.searched + found);
            self.buffer.advance(1);
            if let Some(mut dropped) = self.dropped.take() {
                dropped.take_in(&line);
                return Some(dropped.finish(self.limit));
            }
            if line.len() > self.limit {
                return Some(drop_line(&line).finish(self.limit));
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(Frame::Line(line));
            }
        }
    }

    /// Takes so many bytes out of the buffer.
    fn take(&mut self, count: usize) -> Bytes {
        self.searched = 0;
        if count <= COPIED {
            let line = Bytes::copy_from_slice(&self.buffer[..count]);
            self.buffer.advance(count);
            return line;
        }
        // Of what comes behind it there is one read at most.
        let rest = BytesMut::from(&self.buffer[count..]);
        let mut line = Vec::from(std::mem::replace(&mut self.buffer, rest));
        line.truncate(count);
        line.shrink_to(count + count / 8);
        line.into()
    }

    /// How many bytes are held of lines that did not come out yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.buffer.len() + self.ends()
    }

    /// How many bytes are taken for lines that did not come out yet.
    #[must_use]
    pub fn room(&self) -> usize {
        self.buffer.capacity() + self.ends()
    }

    fn ends(&self) -> usize {
        let ends = self.dropped.as_ref();
        ends.map_or(0, |ends| ends.head.len() + ends.tail.len())
    }

    /// Throws away what is read of a line that is over the limit already.
    fn shed(&mut self) {
        if let Some(dropped) = &mut self.dropped {
            dropped.take_in(&self.buffer);
        } else if self.buffer.len() > self.limit {
            self.dropped = Some(drop_line(&self.buffer));
        } else {
            return;
        }
        self.buffer = BytesMut::new();
        self.searched = 0;
    }

    fn last(&mut self) -> Option<Frame> {
        if let Some(dropped) = self.dropped.take() {
            return Some(dropped.finish(self.limit));
        }
        let rest = self.take(self.buffer.len());
        (!rest.iter().all(u8::is_ascii_whitespace)).then_some(Frame::Torn(rest))
    }
}

fn drop_line(line: &[u8]) -> Dropped {
    let mut dropped = Dropped {
        head: BytesMut::new(),
        tail: BytesMut::new(),
        len: 0,
    };
    dropped.take_in(line);
    dropped
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

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
    async fn lines_come_whole_and_empty_ones_do_not_come() {
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
    async fn a_line_keeps_nothing_of_what_came_with_it() {
        for len in [1, 100, 4097, 40_000, COPIED, COPIED + 1, 200_000, 1_000_000] {
            let input = [&*b"x".repeat(len), b"\n", &*b"y".repeat(70_000), b"\n"].concat();
            for frame in frames(&*input, 1 << 20).await {
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
    async fn who_says_nothing_more_takes_hardly_any_room() {
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

    #[tokio::test]
    async fn the_ends_do_not_depend_on_how_a_line_comes() {
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
