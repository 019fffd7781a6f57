//! Lines of JSON, a value each: what processes of ours tell each other.

use std::io::{self, BufRead, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value as a line, with its end.
///
/// # Errors
/// If JSON cannot have the value.
pub fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes a value as a line, and flushes.
///
/// # Errors
/// If JSON cannot have the value, or the line cannot be written.
pub fn send(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    output.write_all(&line(value)?)?;
    output.flush()
}

/// Reads up to the end of a line, or `longest` bytes. Empty at the end of the stream.
///
/// # Errors
/// If the stream cannot be read.
pub fn read_line(input: &mut impl BufRead, longest: usize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    input.take(longest as u64).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Reads the value in the next line; `None` at the end of the stream, also if the other side was killed while it wrote.
///
/// # Errors
/// If the stream cannot be read, the line has more than `longest` bytes, or another value.
pub fn receive<T: DeserializeOwned>(
    input: &mut impl BufRead,
    longest: usize,
) -> io::Result<Option<T>> {
    parse(&read_line(input, longest)?, longest)
}

/// The value in a line, as it was read up to its end or to `longest` bytes; `None` if the stream ended before.
///
/// # Errors
/// If the line is longer, or has another value.
pub fn parse<T: DeserializeOwned>(line: &[u8], longest: usize) -> io::Result<Option<T>> {
    match line.split_last() {
        Some((b'\n', text)) => Ok(Some(serde_json::from_slice(text)?)),
        _ if line.len() < longest => Ok(None),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a line is too long",
        )),
    }
}
