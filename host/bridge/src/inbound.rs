//! A text from a client: a message or a batch.

use bytes::Bytes;
use serde_json::value::RawValue;

use acp_chain_rpc::transport::lenient;
use acp_chain_rpc::{Error, Id, Kind, Malformed, Message, code};

/// The maximum number of messages in a batch.
const LONGEST_BATCH: usize = 1000;

/// The parsed text.
#[derive(Debug)]
pub enum Inbound {
    /// One message.
    One(Message),
    /// A batch (MCP 2025-03-26), with at least one message.
    Batch(Vec<Message>),
}

impl Inbound {
    /// Reads a text.
    pub fn read(text: Bytes) -> Result<Self, Error> {
        match Message::parse(text.clone()) {
            Ok(message) => has_id(message).map(Self::One),
            Err(Malformed::Batch) => Self::batch(&text),
            // With the repairs of other transports: a byte order mark, or a version that is missing.
            Err(_) => lenient::one(text).and_then(has_id).map(Self::One),
        }
    }

    fn batch(text: &Bytes) -> Result<Self, Error> {
        let invalid = |why: String| Error::new(code::INVALID_REQUEST, why);
        let elements: Vec<&RawValue> =
            serde_json::from_slice(text).map_err(|error| invalid(error.to_string()))?;
        if elements.is_empty() || elements.len() > LONGEST_BATCH {
            return Err(invalid(format!(
                "a batch has one to {LONGEST_BATCH} messages, not {}",
                elements.len()
            )));
        }
        let messages = elements.into_iter().map(|element| {
            // Copied, so that the message does not keep the whole text in memory.
            let line = Bytes::copy_from_slice(element.get().as_bytes());
            let message = Message::parse(line);
            has_id(message.map_err(|malformed| malformed.to_error())?)
        });
        messages.collect::<Result<_, _>>().map(Self::Batch)
    }

    /// The error for a client that may not send batches.
    pub fn no_batches() -> Error {
        let why = "only MCP 2025-03-26 has batches; send one message";
        Error::new(code::INVALID_REQUEST, why)
    }

    /// All messages, in order.
    pub fn into_messages(self) -> Vec<Message> {
        match self {
            Self::One(message) => vec![message],
            Self::Batch(messages) => messages,
        }
    }
}

/// Rejects a request whose id is null: MCP has no such id.
fn has_id(message: Message) -> Result<Message, Error> {
    let is_null = message.id().is_some_and(|id| id == Id::null());
    if message.kind() == Kind::Request && is_null {
        let wrong = "the id of a request is a string or a number, not null";
        Err(Error::new(code::INVALID_REQUEST, wrong))
    } else {
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_chain_rpc::Kind;

    fn read(text: &'static str) -> Result<Vec<Message>, i64> {
        let heard = Inbound::read(Bytes::from_static(text.as_bytes()));
        heard
            .map(Inbound::into_messages)
            .map_err(|error| error.code)
    }

    #[test]
    fn messages_and_batches_are_read() {
        let one =
            read("{\r\n\"jsonrpc\": \"2.0\",\n\"method\": \"m\", \"params\": {\n}}\n").unwrap();
        assert_eq!(one[0].body(), "{ }");
        let batch = read(
            "[{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\"},\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]",
        );
        let kinds: Vec<_> = batch.unwrap().iter().map(Message::kind).collect();
        assert_eq!(kinds, [Kind::Request, Kind::Notification]);
    }

    #[test]
    fn malformed_texts_are_rejected() {
        assert_eq!(read("hello").unwrap_err(), code::PARSE_ERROR);
        assert_eq!(read("[{]").unwrap_err(), code::PARSE_ERROR);
        for no_message in [
            "7",
            "{}",
            "[]",
            "[7]",
            "[[]]",
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            r#"[{"jsonrpc":"2.0","id":null,"method":"m"}]"#,
        ] {
            assert_eq!(read(no_message).unwrap_err(), code::INVALID_REQUEST);
        }
        for repaired in [
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\"}",
            r#"{"id":0,"method":"m","params":{}}"#,
        ] {
            assert_eq!(read(repaired).unwrap()[0].kind(), Kind::Request);
        }
        let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert_eq!(read(refused).unwrap()[0].kind(), Kind::Error);
    }
}
