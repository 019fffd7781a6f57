//! HTTP headers that repeat parts of a request's body, for intermediaries that do not read bodies (MCP 2026-07-28,
//! streamable HTTP, request metadata).

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The prefix of headers that repeat arguments of tools, in lower case.
pub const PREFIX: &str = "mcp-param-";

/// The headers of a request that repeat arguments, by the name after [`PREFIX`], in lower case.
#[derive(Clone, Debug, Default)]
pub struct ParamHeaders(HashMap<Box<str>, Header>);

/// The content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// The decoded text.
    Says(Box<str>),
    /// The header is not text, is invalid Base64, or occurs twice.
    Malformed,
}

impl ParamHeaders {
    /// Adds a header. `value` is `None` if the header is not text.
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        let header = match value.and_then(decode) {
            Some(text) if !self.0.contains_key(name) => Header::Says(text.into()),
            _ => Header::Malformed,
        };
        self.0.insert(name.into(), header);
    }

    /// The content of a header, by the name after [`PREFIX`].
    pub fn get(&self, name: &str) -> Option<&Header> {
        self.0.get(name)
    }
}

/// The text of a header, which may be encoded as `=?base64?…?=`. `None` if the encoding is invalid.
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
