//! The lines between a server and the process that has the store: an object of JSON each, such as
//! `{"id":1,"call":{"leave":{…}}}`, answered by `{"id":1,"answer":"done"}`. Answers may come in any order.

use std::io;

use serde::{Deserialize, Serialize};

use crate::call::{Answer, Call};
use crate::limits::LimitError;

/// The longest line, in bytes.
pub const LINE: usize = 4 << 20;

/// A line of the server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// What the reply has, too.
    pub id: u64,
    pub call: Call,
}

/// A line of the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// That of the request.
    pub id: u64,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Answer(Answer),
    Limit(LimitError),
    /// The store cannot be used now, for this reason.
    Unavailable(String),
}

/// A value as a line.
pub fn line(what: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    Ok(line)
}

/// The request or reply in a line, as it was read up to its end or to [`LINE`] bytes; `None` at the end of the stream,
/// also if the other side was killed while it wrote.
pub fn parse<'l, T: Deserialize<'l>>(line: &'l [u8]) -> io::Result<Option<T>> {
    match line.split_last() {
        Some((b'\n', text)) => Ok(Some(serde_json::from_slice(text)?)),
        _ if line.len() < LINE => Ok(None),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a line is too long",
        )),
    }
}
