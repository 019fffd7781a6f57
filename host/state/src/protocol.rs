//! The lines between the host and the process that has the database: an object of JSON each, such as
//! `{"id":1,"load":{"namespace":{…},"key":"k"}}`, answered by `{"id":1,"load":{"value":null,"version":0,"since":null}}`.
//! Answers may come in any order.

use std::io;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use acp_chain_channel::limits::{STORED_KEY, STORED_VALUE};

use crate::limits::{LimitError, NAME};
use crate::namespace::Namespace;

/// The longest line, in bytes. A byte of a text takes six at most, as `\u0000`.
pub const LINE: usize = 1 << 20;

const _: () = assert!(6 * (STORED_KEY + STORED_VALUE + 4 * NAME) < LINE / 2);

/// A line of the host.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What the reply has, too.
    pub id: u64,
    #[serde(flatten)]
    pub call: Call,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    Load {
        namespace: Namespace,
        key: String,
    },
    Store {
        namespace: Namespace,
        key: String,
        /// The version that is replaced.
        version: u64,
        value: Option<String>,
    },
}

/// A line of the process.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// That of the request.
    pub id: u64,
    #[serde(flatten)]
    pub answer: Answer,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Load(Loaded),
    Store(StoreOutcome),
    /// A limit would be exceeded.
    Limit(LimitError),
    /// The database cannot be used, or has no values of this namespace, for this reason.
    Unavailable(String),
}

/// A value as it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The value; `None` if there is none under the key.
    pub value: Option<String>,
    /// Its version; 0 if there is none.
    pub version: u64,
    /// When the first value of the namespace was stored; `None` if that has not been, or the user has removed all.
    pub since: Option<SystemTime>,
}

/// What became of a value that was to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreOutcome {
    /// It is stored, or removed.
    Stored {
        /// Its version; 0 if it is removed.
        version: u64,
    },
    /// Nothing was changed: the version is not the expected one. Has the value that there is.
    Conflict(Loaded),
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
