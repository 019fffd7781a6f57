//! Lines from bytes (ACP transports: one message per line).
//!
//! Memory is bounded by the line limit and one read, whatever comes in. A line over the limit is discarded as it
//! arrives; its first and last bytes are kept, to tell whose it was.
//!
//! A line that is returned owns its memory, hardly more than its bytes: it keeps no other input alive, however long it
//! waits somewhere.

use std::io;
use std::pin::pin;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Incoming;
use crate::Message;

/// The largest read.
const READ: usize = 64 * 1024;

/// The first read: peers that send little take little, and there may be thousands.
const FIRST_READ: usize = 8 * 1024;

/// How much of either end of a line over the limit is kept.
const KEPT: usize = 4 * 1024;

/// Longer lines take over the buffer that they arrived in. Shorter ones are copied out of it.
const COPIED: usize = READ;

/// One message as it came.
#[derive(Debug)]
pub enum Frame {
    /// A line without its newline.
    Line(Bytes),
    /// A message whose envelope was read already, to know whether it may come in.
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
    /// The size of the next read.
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
        pin!(self.fill()).poll(context)
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
        self.buffer.reserve(self.read);
        let mut room = (&mut self.buffer).limit(self.read);
        let count = self.input.read_buf(&mut room).await?;
        if count == self.read {
            self.read = (2 * count).min(READ);
        }
        self.ended = count == 0;
        Ok(count > 0)
    }

    /// The next complete line. Empty lines are skipped.
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
        // At most one read follows it.
        let rest = BytesMut::from(&self.buffer[count..]);
        let mut line = Vec::from(std::mem::replace(&mut self.buffer, rest));
        line.truncate(count);
        line.shrink_to(count + count / 8);
        line.into()
    }

    /// How many bytes are held of lines not returned yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.buffer.len() + self.ends()
    }

    /// How many bytes are allocated for lines not returned yet.
    #[must_use]
    pub fn room(&self) -> usize {
        self.buffer.capacity() + self.ends()
    }

    fn ends(&self) -> usize {
        let ends = self.dropped.as_ref();
        ends.map_or(0, |ends| ends.head.len() + ends.tail.len())
    }

    /// Discards what was read of a line that is over the limit.
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
