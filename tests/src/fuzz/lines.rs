//! Lines read from bytes that come in any pieces.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::{io, iter};

use acp_chain::rpc::{Message, read};
use acp_chain::transport::{Frame, LineReader, lenient};
use bytes::Bytes;
use futures_util::FutureExt;
use tokio::io::{AsyncRead, ReadBuf};

/// How many bytes of each end of a line over the limit are kept.
const KEPT: usize = 4 * 1024;

/// The most bytes that are read at once.
const READ: usize = 64 * 1024;

/// The frames and messages of a stream do not depend on how its bytes come; and of an incomplete line, no more is held
/// than the limit allows, or the two ends of a line over the limit.
///
/// The first byte of the first line is the limit; its other bytes are the sizes of the pieces in
/// which the rest comes.
///
/// # Panics
/// If this does not hold.
pub fn lines(data: &[u8]) {
    let line = data.split(|byte| *byte == b'\n').next();
    let Some([limit, sizes @ ..]) = line else {
        return;
    };
    let stream = data.get(sizes.len() + 2..).unwrap_or_default();
    let limit = size(*limit);
    let input = Pieces {
        sizes,
        stream,
        room: 2 * (limit + READ),
    };
    let mut reader = LineReader::new(input, limit);
    let mut frames = Vec::new();
    let mut more = true;
    while more {
        // A pending read is dropped and repeated, as by a caller that did something else meanwhile.
        let Some(filled) = reader.fill().now_or_never() else {
            continue;
        };
        more = filled.expect("reading does not fail");
        frames.extend(iter::from_fn(|| reader.next_frame()).map(as_line));
        let held = reader.held();
        assert!(held <= limit.max(2 * KEPT), "{held} bytes are held");
    }
    assert_eq!(frames, expected(stream, limit));
    assert_eq!(reader.held(), 0, "at the end nothing is left");
    repaired(stream);
}

/// A repaired message leaves as one line, which every reader reads alike.
fn repaired(text: &[u8]) {
    for frame in lenient::frames(Bytes::copy_from_slice(text)) {
        let Ok(message) = read(frame) else {
            continue;
        };
        let line = message.line();
        assert!(!line.contains(['\n', '\r']), "{line:?}");
        as_line(Frame::Message(message));
    }
}

/// The same frame, as the forwarded line. A message read while its line came equals one read from the whole line.
fn as_line(frame: Frame) -> Frame {
    let message = match frame {
        Frame::Message(message) => message,
        Frame::Line(line) => match Message::parse(line.clone()) {
            Ok(message) => return Frame::Line(message.into_line()),
            Err(_) => return Frame::Line(line),
        },
        other => return other,
    };
    let line = message.clone().into_line();
    let whole = Message::parse(line.clone()).expect("a valid message");
    let read = |message: &Message| {
        let (method, session) = (message.method().clone(), message.session().cloned());
        let (id, body) = (message.id(), message.body().to_owned());
        (
            message.kind(),
            method,
            id,
            body,
            session,
            message.is_ambiguous(),
        )
    };
    assert_eq!(read(&message), read(&whole));
    Frame::Line(line)
}

/// A byte as a size: the value of a small byte, and up to 32 KiB for the others.
fn size(byte: u8) -> usize {
    match byte {
        0..128 => byte.into(),
        128.. => (usize::from(byte) - 127) * 256,
    }
}

/// The frames of a complete stream.
fn expected(stream: &[u8], limit: usize) -> Vec<Frame> {
    let mut lines: Vec<_> = stream.split(|byte| *byte == b'\n').collect();
    let torn = lines.pop().filter(|line| !line.is_empty());
    let whole = lines.into_iter().map(|line| (line, false));
    let all = whole.chain(torn.map(|line| (line, true)));
    let frames = all.filter_map(|(line, torn)| {
        let bytes = Bytes::copy_from_slice(line);
        if line.len() > limit {
            Some(Frame::TooLong {
                head: bytes.slice(..line.len().min(KEPT)),
                tail: bytes.slice(line.len().saturating_sub(KEPT)..),
                len: line.len() as u64,
                limit,
            })
        } else if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else if torn {
            Some(Frame::Torn(bytes))
        } else {
            Some(as_line(Frame::Line(bytes)))
        }
    });
    frames.collect()
}

/// A stream that comes in pieces.
struct Pieces<'d> {
    /// The sizes of the pieces. At 0 the read is pending. The last size counts for all further pieces,
    /// unless it is 0; without sizes, everything comes at once.
    sizes: &'d [u8],
    stream: &'d [u8],
    /// The most room that the reader may make.
    room: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let room = buffer.remaining();
        assert!(room <= self.room, "there is room for {room} bytes");
        let piece = match self.sizes {
            [] => READ,
            [last] if *last > 0 => size(*last),
            [piece, rest @ ..] => {
                self.sizes = rest;
                size(*piece)
            }
        };
        if piece == 0 {
            return Poll::Pending;
        }
        let (piece, rest) = self.stream.split_at(piece.min(room).min(self.stream.len()));
        buffer.put_slice(piece);
        self.stream = rest;
        Poll::Ready(Ok(()))
    }
}
