//! A queue of bytes to write, which is written in bursts.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Longer pieces are queued by reference, shorter ones are copied together.
const COPIED: usize = 4 * 1024;

/// The maximum length of a piece that is copied together, in bytes. So the queue takes hardly more memory than its
/// bytes, and frees it as it is written.
const CHUNK: usize = 64 * 1024;

/// The queue of bytes to write to one neighbour.
#[derive(Debug, Default)]
pub struct Outbox {
    pieces: VecDeque<Bytes>,
    tail: BytesMut,
    len: usize,
    taken: u64,
}

impl Outbox {
    /// Appends bytes. Long ones are shared, not copied, so they should be most of their allocation.
    pub fn push(&mut self, bytes: &Bytes) {
        if bytes.len() <= COPIED {
            self.copy(bytes);
        } else {
            self.seal();
            self.pieces.push_back(bytes.clone());
            self.len += bytes.len();
        }
    }

    /// Appends a short text.
    pub fn push_str(&mut self, text: &str) {
        self.copy(text.as_bytes());
    }

    /// Appends the contents of another queue.
    pub fn append(&mut self, mut other: Self) {
        while other.has_remaining() {
            let piece = other.copy_to_bytes(other.chunk().len());
            self.push(&piece);
        }
    }

    fn copy(&mut self, bytes: &[u8]) {
        if self.tail.len() + bytes.len() > CHUNK {
            self.seal();
        }
        self.tail.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Takes the next complete line, without its end.
    pub fn take_line(&mut self) -> Option<Bytes> {
        let pieces = self.pieces.iter().map(|piece| &piece[..]);
        let mut before = 0;
        let end = pieces.chain([&self.tail[..]]).find_map(|chunk| {
            let end = memchr::memchr(b'\n', chunk).map(|end| before + end);
            before += chunk.len();
            end
        })?;
        let line = self.copy_to_bytes(end);
        self.advance(1);
        Some(line)
    }

    /// The number of bytes that wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of bytes that were ever written.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The number of bytes that were ever queued, except discarded ones.
    pub fn queued(&self) -> u64 {
        self.taken + self.len as u64
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Discards the waiting bytes.
    pub fn clear(&mut self) {
        *self = Self {
            taken: self.taken,
            ..Self::default()
        };
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.push_back(self.tail.split().freeze());
        }
    }

    #[cfg(test)]
    pub(crate) fn into_text(mut self) -> String {
        String::from_utf8(self.copy_to_bytes(self.remaining()).to_vec()).unwrap()
    }
}

impl Buf for Outbox {
    fn remaining(&self) -> usize {
        self.len
    }

    fn chunk(&self) -> &[u8] {
        self.pieces.front().map_or(&self.tail, |piece| piece)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let pieces = self.pieces.iter().map(|piece| &piece[..]);
        let all = pieces
            .chain([&self.tail[..]])
            .filter(|chunk| !chunk.is_empty());
        let mut used = 0;
        for (slot, chunk) in slices.iter_mut().zip(all) {
            *slot = IoSlice::new(chunk);
            used += 1;
        }
        used
    }

    fn copy_to_bytes(&mut self, count: usize) -> Bytes {
        assert!(
            count <= self.len,
            "an outbox cannot write more than it holds"
        );
        // A piece that is taken as a whole is not copied.
        if self
            .pieces
            .front()
            .is_some_and(|piece| piece.len() == count)
            && let Some(piece) = self.pieces.pop_front()
        {
            self.len -= count;
            self.taken += count as u64;
            return piece;
        }
        let mut copy = BytesMut::with_capacity(count);
        copy.put(self.take(count));
        copy.freeze()
    }

    fn advance(&mut self, mut count: usize) {
        assert!(
            count <= self.len,
            "an outbox cannot write more than it holds"
        );
        self.len -= count;
        self.taken += count as u64;
        while let Some(piece) = self.pieces.front_mut() {
            if count < piece.len() {
                piece.advance(count);
                return;
            }
            count -= piece.len();
            self.pieces.pop_front();
        }
        self.tail.advance(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_piece_is_taken_without_a_copy() {
        let long = Bytes::from(vec![b'x'; COPIED + 1]);
        let mut out = Outbox::default();
        for part in [&b"one"[..], &long, b"two"] {
            out.push(&Bytes::copy_from_slice(part));
        }
        out.push(&long);
        assert_eq!(out.copy_to_bytes(3), "one");
        assert_eq!(out.copy_to_bytes(COPIED + 2), [&long[..], b"t"].concat());
        assert_eq!(out.copy_to_bytes(2), "wo");
        assert_eq!(out.copy_to_bytes(COPIED + 1).as_ptr(), long.as_ptr());
        assert!(out.is_empty() && out.taken() == 2 * long.len() as u64 + 6);
    }

    #[test]
    fn lines_are_taken_whole_however_they_are_queued() {
        let mut out = Outbox::default();
        let long = Bytes::from(vec![b'x'; 100_000]);
        out.push_str("{}\n\n[");
        out.push(&long);
        assert_eq!(out.take_line().as_deref(), Some(&b"{}"[..]));
        assert_eq!(out.take_line().as_deref(), Some(&b""[..]));
        assert_eq!(out.take_line(), None);
        out.push_str("]\n");
        out.push(&long);
        out.push_str("\n");
        let whole = [b"[", &long[..], b"]"].concat();
        assert_eq!(out.take_line().as_deref(), Some(&whole[..]));
        // Of one piece, nothing is copied.
        assert_eq!(out.take_line().unwrap().as_ptr(), long.as_ptr());
        assert!(out.take_line().is_none() && out.is_empty());
    }

    #[test]
    fn short_pieces_are_not_copied_together_without_end() {
        let mut out = Outbox::default();
        for _ in 0..10_000 {
            out.push_str("a hundred bytes, or a few less");
            out.push(&Bytes::from_static(b"of which none are written"));
        }
        let chunks = out.pieces.iter().map(Bytes::len);
        assert!(chunks.clone().all(|len| len <= CHUNK) && chunks.len() == out.len() / CHUNK);
    }

    #[test]
    fn short_and_long_pieces_leave_in_order() {
        let long = Bytes::from(vec![b'x'; COPIED + 1]);
        let mut out = Outbox::default();
        let mut expected = Vec::new();
        for part in [&b"one"[..], &long, b"two", b"three", &long, &long, b"\n"] {
            out.push(&Bytes::copy_from_slice(part));
            expected.extend_from_slice(part);
        }
        let mut written = Vec::new();
        while out.has_remaining() {
            let mut slices = [IoSlice::new(&[]); 2];
            let used = out.chunks_vectored(&mut slices);
            let seen: Vec<u8> = slices[..used]
                .iter()
                .flat_map(|slice| slice.to_vec())
                .collect();
            let count = seen.len().min(1000);
            written.extend_from_slice(&seen[..count]);
            out.advance(count);
        }
        assert_eq!(written, expected);
        assert!(out.is_empty());
    }
}
