//! Reads lines from a stream, as fast as they arrive.

use std::io::{Read, Result};

use memchr::memchr;

/// The initial buffer: the capacity of a pipe. It grows with the lines.
const READ: usize = 64 * 1024;

/// Splits a stream into lines, in one buffer.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// The end of the part without a newline.
    searched: usize,
    /// The end of the data.
    end: usize,
}

impl<R: Read> Lines<R> {
    /// The lines of this stream.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; READ],
            begin: 0,
            searched: 0,
            end: 0,
        }
    }

    /// The next line without its newline; `None` at the end of the stream.
    ///
    /// # Errors
    /// If the stream cannot be read.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[self.searched..self.end]) {
                let line = self.begin..self.searched + found;
                self.begin = line.end + 1;
                self.searched = self.begin;
                return Ok(Some(&self.buffer[line]));
            }
            self.searched = self.end;
            self.make_room();
            let count = self.input.read(&mut self.buffer[self.end..])?;
            if count == 0 {
                return Ok(None);
            }
            self.end += count;
        }
    }

    /// The stream itself, for data that need not be split.
    pub fn stream(&mut self) -> &mut R {
        &mut self.input
    }

    fn make_room(&mut self) {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            self.searched -= self.begin;
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that returns this many bytes at once.
    struct ChunkReader<'a>(&'a [u8], usize);

    impl Read for ChunkReader<'_> {
        fn read(&mut self, into: &mut [u8]) -> Result<usize> {
            let count = self.1.min(into.len());
            (&mut self.0).take(count as u64).read(into)
        }
    }

    #[test]
    fn lines_come_whole_however_they_are_read() {
        let long = vec![b'x'; READ * 3];
        let text = [&b"one\n\ntwo\n"[..], &long, b"\nthree\n"].concat();
        for size in [1, 7, READ, usize::MAX] {
            let mut lines = Lines::new(ChunkReader(&text, size));
            for expected in [&b"one"[..], b"", b"two", &long, b"three"] {
                assert_eq!(lines.next_line().unwrap(), Some(expected));
            }
            assert_eq!(lines.next_line().unwrap(), None);
        }
    }
}
