//! The envelope of a JSON-RPC message, as text.
//!
//! Ids and bodies keep their text. A member with the value `null` is not the same as an absent
//! member: an id may be null.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One message, parsed at its outermost level only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The whole line, without its line feed.
    pub line: String,
    /// The id as it was spelt: `0`, `"a-b"`, `null`.
    pub id: Option<String>,
    /// The method, decoded.
    pub method: Option<String>,
    /// The parameters as they were spelt.
    pub params: Option<String>,
    /// The result as it was spelt.
    pub result: Option<String>,
    /// The error object as it was spelt.
    pub error: Option<String>,
}

/// The members that a JSON-RPC message may have.
#[derive(Deserialize)]
struct Members {
    #[serde(default, deserialize_with = "present")]
    id: Option<Box<RawValue>>,
    method: Option<String>,
    #[serde(default, deserialize_with = "present")]
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Box<RawValue>>,
}

/// Distinguishes a null from an absent member.
fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(member).map(Some)
}

impl Message {
    /// Reads a line that holds one JSON object.
    ///
    /// # Errors
    /// If the line is not a JSON object with the members of a JSON-RPC message.
    pub fn parse(line: impl Into<String>) -> serde_json::Result<Self> {
        let line = line.into();
        let members: Members = serde_json::from_str(&line)?;
        let text = |raw: Box<RawValue>| raw.get().to_owned();
        Ok(Self {
            id: members.id.map(text),
            method: members.method,
            params: members.params.map(text),
            result: members.result.map(text),
            error: members.error.map(text),
            line,
        })
    }

    /// Whether this asks for an answer.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.method.is_some() && self.id.is_some()
    }

    /// Whether this is the answer to the request with that id, in that spelling.
    #[must_use]
    pub fn answers(&self, id: &str) -> bool {
        self.method.is_none() && self.id.as_deref() == Some(id)
    }

    /// The lines that answer this request with a result: one, or none for a notification.
    #[must_use]
    pub fn result(&self, result: &str) -> Vec<String> {
        self.answer(|id| self::result(id, result))
    }

    /// The lines that answer this request with an error: one, or none for a notification.
    #[must_use]
    pub fn error(&self, error: &str) -> Vec<String> {
        self.answer(|id| self::error(id, error))
    }

    fn answer(&self, line: impl Fn(&str) -> String) -> Vec<String> {
        match &self.id {
            Some(id) if self.method.is_some() => vec![line(id)],
            _ => Vec::new(),
        }
    }
}

/// A request; `id` and `params` are JSON text.
#[must_use]
pub fn request(id: &str, method: &str, params: &str) -> String {
    let method = quoted(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

/// A notification; `params` is JSON text.
#[must_use]
pub fn notification(method: &str, params: &str) -> String {
    let method = quoted(method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// The answer to a request; `id` and `result` are JSON text.
#[must_use]
pub fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The answer to a request that failed; `id` and `error` are JSON text.
#[must_use]
pub fn error(id: &str, error: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// Text as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_bodies_keep_their_spelling() {
        let line = r#"{"result" : {"n":1e400, "s":"\u00e9"} ,"jsonrpc":"2.0","id":"a\/b"}"#;
        let message = Message::parse(line).unwrap();
        assert_eq!(message.id.as_deref(), Some(r#""a\/b""#));
        assert_eq!(
            message.result.as_deref(),
            Some(r#"{"n":1e400, "s":"\u00e9"}"#)
        );
        assert!(message.answers(r#""a\/b""#));
        assert!(!message.is_request());
    }

    #[test]
    fn a_null_id_is_an_id_and_a_null_result_is_a_result() {
        let request = Message::parse(r#"{"id":null,"method":"x"}"#).unwrap();
        assert!(request.is_request());
        assert_eq!(
            request.result("null"),
            [r#"{"jsonrpc":"2.0","id":null,"result":null}"#]
        );
        let answer = Message::parse(r#"{"id":null,"result":null}"#).unwrap();
        assert_eq!(answer.result.as_deref(), Some("null"));
        assert!(answer.answers("null"));
    }

    #[test]
    fn a_notification_has_no_answer() {
        let message = Message::parse(notification("x", "{}")).unwrap();
        assert!(!message.is_request());
        assert_eq!(message.result("{}"), Vec::<String>::new());
        assert_eq!(message.error("{}"), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for line in ["", "hello", "[]", "3", r#"{"method":3}"#, r#"{"id":1"#] {
            assert!(Message::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn deep_nesting_is_no_obstacle() {
        let params = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let message = Message::parse(request("1", "x", &params)).unwrap();
        assert_eq!(message.params, Some(params));
    }
}
