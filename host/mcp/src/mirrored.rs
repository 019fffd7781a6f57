//! Headers that repeat parts of a request's body over HTTP, for intermediaries that do not read bodies (MCP
//! 2026-07-28, streamable HTTP, request metadata).

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The prefix of headers that repeat arguments of tools, in lower case.
pub const PREFIX: &str = "mcp-param-";

/// The headers of a request that repeat arguments, by the name after [`PREFIX`], in lower case.
#[derive(Clone, Debug, Default)]
pub struct Mirrored(HashMap<Box<str>, Header>);

/// The content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// This text.
    Says(Box<str>),
    /// Invalid: it is not text, or occurs twice.
    Malformed,
}

impl Mirrored {
    /// Adds a header. `value` is its text, if it is text.
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        let header = match value.and_then(decode) {
            Some(text) if !self.0.contains_key(name) => Header::Says(text.into()),
            _ => Header::Malformed,
        };
        self.0.insert(name.into(), header);
    }

    /// The content of the header with this name, if present.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Header> {
        self.0.get(name)
    }
}

/// The text of a header that may be wrapped as `=?base64?…?=`.
#[must_use]
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let wrapped = value.strip_prefix("=?base64?");
    match wrapped.and_then(|value| value.strip_suffix("?=")) {
        None => Some(value.into()),
        Some(wrapped) => {
            let bytes = STANDARD.decode(wrapped).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}
