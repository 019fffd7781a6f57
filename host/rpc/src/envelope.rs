//! The envelope of a line: the fields that JSON-RPC defines, each as text.

use acp_chain_powers::fold;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Error;
use super::pointer::decoded;

/// Why a line is not a message.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// The bytes are not UTF-8 (ACP transports: messages must be).
    #[error("the message is not UTF-8: {0}")]
    NotUtf8(#[from] std::str::Utf8Error),
    /// The text is not JSON.
    #[error("the message is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// It is JSON, but an array.
    #[error(
        "batches are not part of version 1 of the Agent Client Protocol, and have 1 to {} messages; \
         send one message a line",
        super::batch::MAX_MESSAGES
    )]
    Batch,
    /// It is JSON, but not a JSON-RPC 2.0 message.
    #[error("{0}")]
    Invalid(String),
}

impl Malformed {
    /// The error object for the sender.
    #[must_use]
    pub fn to_error(&self) -> Error {
        let code = match self {
            Self::NotUtf8(_) | Self::NotJson(_) => super::code::PARSE_ERROR,
            Self::Batch | Self::Invalid(_) => super::code::INVALID_REQUEST,
        };
        Error::new(code, self.to_string())
    }
}

/// The envelope's fields that a line has.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub jsonrpc: Option<&'a RawValue>,
    pub id: Option<&'a RawValue>,
    pub method: Option<&'a RawValue>,
    pub params: Option<&'a RawValue>,
    pub result: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
    /// Whether there is a field that some parsers take for one of these.
    pub is_ambiguous: bool,
}

impl<'a> Envelope<'a> {
    /// Finds the fields in the text of a line.
    pub fn read(line: &'a str) -> Result<Self, Malformed> {
        serde_json::from_str(line).map_err(|error| explain(line, error))
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(line: D) -> Result<Self, D::Error> {
        line.deserialize_map(Fields)
    }
}

struct Fields;

/// Whether a parser that ignores case takes another name for one of the envelope's fields.
fn resembles_field(name: &str) -> bool {
    ["jsonrpc", "id", "method", "params", "result", "error"].contains(&&*fold(name))
}

impl<'de> Visitor<'de> for Fields {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(name) = map.next_key::<&RawValue>()? {
            let name = decoded(name.get());
            let slot = match name.as_deref() {
                Some("jsonrpc") => &mut envelope.jsonrpc,
                Some("id") => &mut envelope.id,
                Some("method") => &mut envelope.method,
                Some("params") => &mut envelope.params,
                Some("result") => &mut envelope.result,
                Some("error") => &mut envelope.error,
                other => {
                    envelope.is_ambiguous |= other.is_none_or(resembles_field);
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            // Two parsers could disagree about it.
            if slot.replace(map.next_value()?).is_some() {
                return Err(serde::de::Error::custom(format!(
                    "it has two fields `{}`",
                    name.unwrap_or_default()
                )));
            }
        }
        Ok(envelope)
    }
}

/// Says what is wrong with a text that is not an envelope.
fn explain(text: &str, error: serde_json::Error) -> Malformed {
    // Not every error of the parser means that the text is not JSON: the envelope has errors of its own, before the
    // rest was read, and JSON numbers may be too large to represent.
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        return Malformed::NotJson(error);
    }
    match text.trim_start().as_bytes().first() {
        Some(b'[') => Malformed::Batch,
        Some(b'{') => Malformed::Invalid(format!("the message is not JSON-RPC: {error}")),
        _ => Malformed::Invalid("a message is a JSON object".to_owned()),
    }
}
