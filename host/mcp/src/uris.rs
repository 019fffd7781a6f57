//! The URIs of the resources that a client subscribes to, limited in number and length.

use std::collections::BTreeSet;

use serde_json::json;

use super::protocol::{code, invalid};
use acp_chain_rpc::Error;

/// The maximum number of URIs.
const MAX_URIS: usize = 1024;

pub use acp_chain_channel::limits::LONGEST_URI as LONGEST;

/// The maximum total length, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A set of URIs.
#[derive(Clone, Debug, Default)]
pub struct Uris {
    uris: BTreeSet<String>,
    /// The total length, in bytes.
    length: usize,
}

/// An error if a URI is longer than [`LONGEST`].
pub fn check(uri: &str) -> Result<(), Error> {
    if uri.len() <= LONGEST {
        Ok(())
    } else {
        Err(invalid(format!("the uri is longer than {LONGEST} bytes")))
    }
}

impl Uris {
    /// Returns whether the URI is new.
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

    /// Returns whether the URI was present.
    pub fn remove(&mut self, uri: &str) -> bool {
        let removed = self.uris.remove(uri);
        if removed {
            self.length -= uri.len();
        }
        removed
    }

    pub fn has(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    pub fn is_empty(&self) -> bool {
        self.uris.is_empty()
    }

    /// The size in bytes.
    pub fn weight(&self) -> usize {
        self.length
    }

    /// The URIs as a JSON array.
    pub fn to_json(&self) -> String {
        json!(self.uris).to_string()
    }
}
