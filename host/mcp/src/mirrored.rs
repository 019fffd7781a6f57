//! Headers that repeat what a request over HTTP says in its body, for those on the way who do not read
//! bodies (MCP 2026-07-28, streamable HTTP, request metadata).

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// With what the headers begin that repeat arguments of tools, in small letters.
pub const PREFIX: &str = "mcp-param-";

/// The headers of a request that repeat arguments, by what comes behind [`PREFIX`], in small letters.
#[derive(Clone, Debug, Default)]
pub struct Mirrored(HashMap<Box<str>, Header>);

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// This text.
    Says(Box<str>),
    /// Nothing that it may: what is no text, or two things.
    Malformed,
}

impl Mirrored {
    /// Adds a header. `value` is its text, if it is one.
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        let header = match value.and_then(decode) {
            Some(text) if !self.0.contains_key(name) => Header::Says(text.into()),
            _ => Header::Malformed,
        };
        self.0.insert(name.into(), header);
    }

    /// What the header of this name says, if it is there.
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
