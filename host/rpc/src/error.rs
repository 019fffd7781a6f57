//! JSON-RPC error objects.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The error codes that the host itself sends (JSON-RPC 2.0 §5.1, and ACP's own).
pub mod code {
    /// The line was not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON was not a request, notification or response, or came out of turn.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The receiver does not know the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The receiver cannot use the request's params.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A part of the chain could not do its work.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// There is no such resource, file or session.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The request was withdrawn by its sender (RFD request-cancellation).
    pub const REQUEST_CANCELLED: i64 = -32800;
}

/// A JSON-RPC error object (JSON-RPC 2.0 §5.1).
#[derive(Clone, Debug, Deserialize, Serialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Error {
    /// What kind of error it is.
    #[serde(default)]
    pub code: i64,
    /// One sentence for people.
    #[serde(default)]
    pub message: String,
    /// More about it, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl Error {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// A request was withdrawn before it was answered (RFD request-cancellation).
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(code::REQUEST_CANCELLED, "Request cancelled")
    }

    /// The same error with more about it.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// The JSON text of this error object.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A struct of numbers, strings and raw JSON always serializes.
        serde_json::to_string(self).unwrap_or_else(|_| format!(r#"{{"code":{}}}"#, self.code))
    }
}
