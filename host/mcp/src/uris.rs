//! The resources that one client subscribes to, by their URIs: bounded in number and in length.

use std::collections::BTreeSet;

use super::protocol::{code, invalid, quoted};
use acp_chain_rpc::Error;

/// The maximum number of URIs.
const MAX_URIS: usize = 1024;

pub use acp_chain_channel::limits::LONGEST_URI as LONGEST;

/// The maximum total length, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A set of URIs.
#[derive(Debug, Default)]
pub struct Uris {
    uris: BTreeSet<String>,
    /// The total length, in bytes.
    length: usize,
}

/// An error if a URI is longer than any may be.
pub fn check(uri: &str) -> Result<(), Error> {
    match uri.len() <= LONGEST {
        true => Ok(()),
        false => Err(invalid(format!("the uri is longer than {LONGEST} bytes"))),
    }
}

impl Uris {
    /// Adds one. Returns whether it is new.
    pub fn add(&mut self, uri: &str) -> Result<bool, Error> {
        check(uri)?;
        if self.uris.contains(uri) {
            return Ok(false);
        }
        if self.uris.len() >= MAX_URIS || self.length + uri.len() > MAX_BYTES {
            let most = MAX_BYTES / 1024;
            let text = format!(
                "A client may subscribe to {MAX_URIS} resources, with URIs of {most} KiB in all"
            );
            return Err(Error::new(code::LIMIT, text));
        }
        self.length += uri.len();
        Ok(self.uris.insert(uri.to_owned()))
    }

    /// Removes one. Returns whether it was present.
    pub fn remove(&mut self, uri: &str) -> bool {
        let removed = self.uris.remove(uri);
        if removed {
            self.length -= uri.len();
        }
        removed
    }

    /// Whether it is present.
    pub fn has(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.uris.is_empty()
    }

    /// How many bytes are kept for them.
    pub fn weight(&self) -> usize {
        self.length
    }

    /// The JSON text of an array of them.
    pub fn to_json(&self) -> String {
        let uris: Vec<_> = self.uris.iter().map(|uri| quoted(uri)).collect();
        format!("[{}]", uris.join(","))
    }
}
