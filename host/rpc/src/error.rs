//! JSON-RPC error objects.

use acp_chain_acp::code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON-RPC error object (JSON-RPC 2.0 §5.1).
#[derive(Clone, Debug, Deserialize, Serialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Error {
    /// The kind of the error (see [`code`](crate::code)).
    #[serde(default)]
    pub code: i64,
    /// One sentence for people.
    #[serde(default)]
    pub message: String,
    /// Further data, as JSON text.
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

    /// The error for a request that was cancelled before it was answered (RFD request-cancellation).
    pub fn cancelled() -> Self {
        Self::new(code::REQUEST_CANCELLED, "Request cancelled")
    }

    /// Sets the data.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// The JSON text of this error object.
    pub fn to_json(&self) -> String {
        // A struct of numbers, strings and raw JSON always serializes.
        serde_json::to_string(self).unwrap_or_else(|_| format!(r#"{{"code":{}}}"#, self.code))
    }
}
