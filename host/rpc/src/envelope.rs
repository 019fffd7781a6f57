//! The errors of lines that are not messages.

use serde_json::value::RawValue;

use super::Error;
use super::outline::Flaw;

/// Why a line is not a message.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// The bytes are not UTF-8 (ACP transports: messages must be).
    #[error("the message is not UTF-8: {0}")]
    NotUtf8(#[from] std::str::Utf8Error),
    /// The text is not JSON.
    #[error("the message is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// The text is a header, which stands before each message of the Language Server Protocol.
    #[error(
        "the message is not JSON: it is one of the headers of the Language Server Protocol; a message of the Agent \
         Client Protocol is a line, without headers"
    )]
    Header,
    /// The text is an array, and not a valid batch.
    #[error(
        "version 1 of the Agent Client Protocol has no batches, and in version 2 one has 1 to {} messages; \
         send one message a line",
        super::batch::MAX_MESSAGES
    )]
    Batch,
    /// The text is JSON, but not a JSON-RPC 2.0 message.
    #[error("{0}")]
    Invalid(String),
}

impl Malformed {
    /// The error object for the sender.
    pub fn to_error(&self) -> Error {
        let code = match self {
            Self::NotUtf8(_) | Self::NotJson(_) | Self::Header => super::code::PARSE_ERROR,
            Self::Batch | Self::Invalid(_) => super::code::INVALID_REQUEST,
        };
        Error::new(code, self.to_string())
    }

    /// Whether the text is not JSON at all.
    pub(super) fn is_garbled(&self) -> bool {
        matches!(self, Self::NotUtf8(_) | Self::NotJson(_) | Self::Header)
    }
}

/// The header without which there is no message of the Language Server Protocol.
const HEADER: &str = "content-length:";

/// The error for a text that is not an envelope.
pub(super) fn explain(text: &str, flaw: Flaw) -> Malformed {
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        let begin = text.get(..HEADER.len());
        return if begin.is_some_and(|begin| begin.eq_ignore_ascii_case(HEADER)) {
            Malformed::Header
        } else {
            Malformed::NotJson(error)
        };
    }
    match flaw.twice() {
        Some(field) => Malformed::Invalid(format!(
            "the message is not JSON-RPC: it has two fields `{field}`"
        )),
        None if text.trim_start().starts_with('[') => Malformed::Batch,
        None => Malformed::Invalid("a message is a JSON object".to_owned()),
    }
}
