//! MCP messages, and the params of the ACP messages that carry them, in both dialects.

use std::borrow::Cow;

use serde::Deserialize;

use super::ConnectionId;
use super::protocol::{code, object, quoted};
use acp_chain_rpc::{Error, Kind, Message, code as rpc_code, member};

/// An MCP request or notification, independent of its carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpMessage {
    /// MCP's method and params. Its kind and id are those of its carrier.
    pub message: Message,
    /// The `_meta` of the ACP message that carries the MCP message: an object, as JSON text.
    pub meta: Option<Box<str>>,
}

impl McpMessage {
    /// The MCP message that an ACP message carries; `None` without a method.
    pub fn read(carrier: &Message) -> Option<Self> {
        Some(Self {
            message: carrier.carried()?,
            meta: meta(carrier.body()).map(Box::from),
        })
    }

    /// An MCP message that no ACP message carries.
    pub fn of(message: Message) -> Self {
        let meta = None;
        Self { message, meta }
    }

    /// A message made by the host. `params` is JSON text; `null` stands for none.
    pub(crate) fn new(method: &str, params: &str) -> Self {
        Self::of(Message::notification(method, params))
    }

    /// MCP's method.
    pub fn method(&self) -> &str {
        self.message.method()
    }

    /// MCP's params, as JSON text; `null` if there are none.
    pub fn params(&self) -> &str {
        self.message.body()
    }

    /// Sets MCP's params.
    pub(crate) fn set_params(&mut self, params: &str) {
        self.message = self.message.with_body(params);
    }

    /// The size in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.method().len() + self.params().len() + self.meta.as_deref().map_or(0, str::len)
    }

    /// The params of an ACP message that carries the message, with these members before it.
    fn carried_by(&self, address: &[(&str, &str)]) -> String {
        let method = quoted(self.method());
        let address = address.iter().map(|(name, id)| (*name, Some(*id)));
        let said = [
            ("method", Some(&*method)),
            (
                "params",
                Some(self.params()).filter(|params| *params != "null"),
            ),
            ("_meta", self.meta.as_deref()),
        ];
        object(&address.chain(said).collect::<Vec<_>>())
    }
}

/// What the params of an ACP message, or its result, name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address<'a> {
    /// `connectionId` (RFD mcp-over-acp).
    pub connection: Option<Cow<'a, str>>,
    /// `acpId` or `serverId`.
    pub server: Option<Cow<'a, str>>,
    /// `requestId` (stateless dialect).
    pub request: Option<Cow<'a, str>>,
}

impl<'a> Address<'a> {
    /// Reads the params or the result of an ACP message.
    pub fn read(body: &'a str) -> Self {
        let text = |name| member(body, name).and_then(text);
        Self {
            connection: text("connectionId"),
            server: text("acpId").or_else(|| text("serverId")),
            request: text("requestId"),
        }
    }

    /// The number of the connection, if its id is one of the host's.
    pub fn own_connection(&self) -> Option<ConnectionId> {
        let number = self.connection.as_deref()?.strip_prefix(OWN_PREFIX)?;
        number.parse().ok()
    }
}

/// The value of a JSON string; `None` for other JSON.
fn text(json: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    serde_json::from_str(json).ok().map(|Text(text)| text)
}

/// The `_meta` in ACP params or an ACP result, if it is an object.
pub fn meta(body: &str) -> Option<&str> {
    member(body, "_meta").filter(|meta| meta.starts_with('{'))
}

/// The params of `mcp/connect`, with the server's id under each of these member names.
pub fn connect(names: &[&str], server: &str, meta: Option<&str>) -> String {
    let server = quoted(server);
    let names = names.iter().map(|name| (*name, Some(&*server)));
    let members: Vec<_> = names.chain([("_meta", meta)]).collect();
    object(&members)
}

/// The params of `mcp/disconnect`. `connection` is the id as JSON text.
pub fn disconnect(connection: &str, meta: Option<&str>) -> String {
    object(&[("connectionId", Some(connection)), ("_meta", meta)])
}

/// The params of `mcp/message` on a connection. `connection` is the id as JSON text.
pub(crate) fn on_connection(connection: &str, said: &McpMessage) -> String {
    said.carried_by(&[("connectionId", connection)])
}

/// The params of `mcp/message` on a connection with one of the host's ids.
pub fn on_own(connection: ConnectionId, said: &McpMessage) -> String {
    on_connection(&own(connection), said)
}

/// The host's id of a connection, as JSON text.
pub fn own(connection: ConnectionId) -> String {
    format!("\"{OWN_PREFIX}{connection}\"")
}

/// Prevents collisions of the host's ids with those of providers: native proxies use both.
const OWN_PREFIX: &str = "acp-chain-";

/// The params of `mcp/message` for a request that stands alone, or a notification that belongs to one.
pub fn alone(server: &str, request: &str, said: &McpMessage) -> String {
    said.carried_by(&[
        ("serverId", &quoted(server)),
        ("requestId", &quoted(request)),
    ])
}

/// The error codes of the stateless dialect. MCP does not use them.
const OWN: [i64; 4] = [
    code::LIMIT,
    code::UNAVAILABLE,
    code::BACKEND,
    rpc_code::REQUEST_CANCELLED,
];

/// Wraps an MCP outcome in a result, as the stateless dialect requires. Errors of the dialect pass unchanged.
pub fn carry(outcome: Message, meta: Option<&str>) -> Message {
    let body = outcome.body();
    let name = match outcome.kind() {
        Kind::Error => "error",
        _ => "result",
    };
    let is_own = || {
        let error = serde_json::from_str(body);
        error.is_ok_and(|error: Error| OWN.contains(&error.code))
    };
    if outcome.kind() == Kind::Error && is_own() {
        outcome
    } else {
        Message::result(&object(&[(name, Some(body)), ("_meta", meta)]))
    }
}

/// The MCP outcome in a result of the stateless dialect; `None` if it has none.
pub fn carried(answer: &Message) -> Option<Message> {
    /// The required members of an error.
    #[derive(Deserialize)]
    struct ErrorObject {
        #[serde(rename = "code")]
        _code: i32,
        #[serde(rename = "message")]
        _message: String,
    }

    if let Some(result) = member(answer.body(), "result") {
        return Some(Message::result(result));
    }
    let error = member(answer.body(), "error")?;
    serde_json::from_str::<ErrorObject>(error).ok()?;
    // As text, so that other members pass unchanged.
    Some(Message::error(&Error::cancelled()).with_part(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::transcript::beside;

    #[test]
    fn a_carried_message_is_read_unchanged() {
        let params = r#"{ "x" : 1e400}"#;
        let said = beside(Some("{ }"), McpMessage::new("tools/call", params));
        let carrier = on_connection(r#""c\"1""#, &said);
        let address = Address::read(&carrier);
        assert_eq!(address.connection.as_deref(), Some("c\"1"));
        let read = McpMessage::read(&Message::request("mcp/message", &carrier)).unwrap();
        assert_eq!((read.method(), read.params()), ("tools/call", params));
        assert_eq!(read.meta, said.meta);
        let carrier = alone("s", "r", &McpMessage::new("ping", "null"));
        assert_eq!(
            carrier,
            r#"{"serverId":"s","requestId":"r","method":"ping"}"#
        );
        let without = r#"{"params":null,"connectionId":7}"#;
        assert_eq!(Address::read(without), Address::default());
        assert_eq!(
            McpMessage::read(&Message::request("mcp/message", without)),
            None
        );
    }
}
