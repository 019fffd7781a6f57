//! MCP messages, and the params of the ACP messages that carry them, in both dialects.

use std::borrow::Cow;

use serde::Deserialize;

use super::ConnectionId;
use super::protocol::{code, object, quoted};
use acp_chain_rpc::{Error, Kind, Message, code as rpc_code, member};

/// An MCP request or notification, independent of its carrier. Texts are JSON, except for the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// MCP's method.
    pub method: Cow<'a, str>,
    /// MCP's params; `None` if missing or `null`.
    pub params: Option<Cow<'a, str>>,
    /// The `_meta` of the ACP message that carries the MCP message: an object.
    pub meta: Option<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    /// A message without `_meta` of ACP.
    #[must_use]
    pub fn new(method: &'a str, params: Option<&'a str>) -> Self {
        Self {
            method: method.into(),
            params: params.map(Cow::Borrowed),
            meta: None,
        }
    }

    /// A message made by the host.
    pub(crate) fn made(method: &str, params: impl Into<Option<String>>) -> Said<'static> {
        Said {
            method: method.to_owned().into(),
            params: params.into().map(Cow::Owned),
            meta: None,
        }
    }

    /// An MCP message that no ACP message carries.
    #[must_use]
    pub fn of(message: &'a Message) -> Self {
        let params = Some(message.body()).filter(|params| *params != "null");
        Self::new(message.method(), params)
    }

    #[must_use]
    pub fn params(&self) -> Option<&str> {
        self.params.as_deref()
    }

    pub(crate) fn into_owned(self) -> Said<'static> {
        let owned = |text: Cow<str>| Cow::Owned(text.into_owned());
        Said {
            method: owned(self.method),
            params: self.params.map(owned),
            meta: self.meta.map(owned),
        }
    }

    /// The size in bytes.
    pub(crate) fn weight(&self) -> usize {
        let texts = [&self.params, &self.meta].into_iter().flatten();
        self.method.len() + texts.map(|text| text.len()).sum::<usize>()
    }
}

/// The params of an ACP message that carries an MCP message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrapped<'a> {
    /// `connectionId` (RFD mcp-over-acp).
    pub connection: Option<Cow<'a, str>>,
    /// `acpId` or `serverId`.
    pub server: Option<Cow<'a, str>>,
    /// `requestId` (stateless dialect).
    pub request: Option<Cow<'a, str>>,
    /// The MCP message; `None` without a method.
    pub said: Option<Said<'a>>,
}

impl<'a> Wrapped<'a> {
    /// Parses the params of an ACP message.
    #[must_use]
    pub fn read(params: &'a str) -> Self {
        let text = |name| member(params, name).and_then(text);
        Self {
            connection: text("connectionId"),
            server: text("acpId").or_else(|| text("serverId")),
            request: text("requestId"),
            said: said(params),
        }
    }

    /// The number of the connection, if its id is one of the host's.
    #[must_use]
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

/// The MCP message in the params of an ACP message; `None` without a method.
pub(crate) fn said(params: &str) -> Option<Said<'_>> {
    Some(Said {
        method: text(member(params, "method")?)?,
        params: member(params, "params")
            .filter(|params| *params != "null")
            .map(Cow::Borrowed),
        meta: meta(params).map(Cow::Borrowed),
    })
}

/// The `_meta` in ACP params or an ACP result, if it is an object.
#[must_use]
pub fn meta(body: &str) -> Option<&str> {
    member(body, "_meta").filter(|meta| meta.starts_with('{'))
}

/// The params of `mcp/connect`, with the server's id under each of these member names.
#[must_use]
pub fn connect(names: &[&str], server: &str, meta: Option<&str>) -> String {
    let server = quoted(server);
    let names = names.iter().map(|name| (*name, Some(&*server)));
    let members: Vec<_> = names.chain([("_meta", meta)]).collect();
    object(&members)
}

/// The params of `mcp/disconnect`. `connection` is the id as JSON text.
#[must_use]
pub fn disconnect(connection: &str, meta: Option<&str>) -> String {
    object(&[("connectionId", Some(connection)), ("_meta", meta)])
}

/// The params of `mcp/message` on a connection. `connection` is the id as JSON text.
pub(crate) fn on_connection(connection: &str, said: &Said) -> String {
    object(&[
        ("connectionId", Some(connection)),
        ("method", Some(&quoted(&said.method))),
        ("params", said.params()),
        ("_meta", said.meta.as_deref()),
    ])
}

/// The params of `mcp/message` on a connection with one of the host's ids.
#[must_use]
pub fn on_own(connection: ConnectionId, said: &Said) -> String {
    on_connection(&own(connection), said)
}

/// The host's id of a connection, as JSON text.
#[must_use]
pub fn own(connection: ConnectionId) -> String {
    format!("\"{OWN_PREFIX}{connection}\"")
}

/// Prevents collisions of the host's ids with those of providers: native proxies use both.
const OWN_PREFIX: &str = "acp-chain-";

/// The params of `mcp/message` for a request that stands alone, or a notification that belongs to one.
#[must_use]
pub fn alone(server: &str, request: &str, said: &Said) -> String {
    object(&[
        ("serverId", Some(&quoted(server))),
        ("requestId", Some(&quoted(request))),
        ("method", Some(&quoted(&said.method))),
        ("params", said.params()),
        ("_meta", said.meta.as_deref()),
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
#[must_use]
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
#[must_use]
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
    let version = ("jsonrpc", Some(r#""2.0""#));
    let line = object(&[version, ("id", Some("null")), ("error", Some(error))]);
    Message::parse(line.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::transcript::beside;

    #[test]
    fn a_wrapped_message_is_read_unchanged() {
        let params = r#"{ "x" : 1e400}"#;
        let said = beside(Some("{ }"), Said::new("tools/call", Some(params)));
        let wrapped = on_connection(r#""c\"1""#, &said);
        let read = Wrapped::read(&wrapped);
        assert_eq!(read.connection.as_deref(), Some("c\"1"));
        assert_eq!(read.said, Some(said));
        let wrapped = alone("s", "r", &Said::new("ping", None));
        assert_eq!(
            wrapped,
            r#"{"serverId":"s","requestId":"r","method":"ping"}"#
        );
        assert_eq!(
            Wrapped::read(r#"{"params":null,"connectionId":7}"#),
            Wrapped::default()
        );
    }
}
