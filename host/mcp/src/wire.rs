//! MCP messages and their carriers: the params of `mcp/message` and its kin, in both dialects.

use std::borrow::Cow;

use serde::Deserialize;

use super::ConnectionId;
use super::protocol::{code, object, quoted};
use acp_chain_rpc::{Error, Kind, Message, code as rpc_code, member};

/// An MCP request or notification, whatever carries it. Texts are JSON, except for the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// MCP's method.
    pub method: Cow<'a, str>,
    /// MCP's params; `None` if missing or `null`.
    pub params: Option<Cow<'a, str>>,
    /// The `_meta` of the ACP message that carries it, an object.
    pub meta: Option<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    /// A message as it arrived, without `_meta` beside it.
    #[must_use]
    pub fn new(method: &'a str, params: Option<&'a str>) -> Self {
        Self {
            method: method.into(),
            params: params.map(Cow::Borrowed),
            meta: None,
        }
    }

    /// One that the host makes.
    pub(crate) fn made(method: &str, params: String) -> Said<'static> {
        Said {
            method: method.to_owned().into(),
            params: Some(params.into()),
            meta: None,
        }
    }

    /// Reads an MCP message that arrived by itself.
    #[must_use]
    pub fn of(message: &'a Message) -> Self {
        let params = Some(message.body()).filter(|params| *params != "null");
        Self::new(message.method(), params)
    }

    /// MCP's params.
    #[must_use]
    pub fn params(&self) -> Option<&str> {
        self.params.as_deref()
    }

    /// The `_meta` beside it.
    pub(crate) fn meta(&self) -> Option<&str> {
        self.meta.as_deref()
    }

    /// The same, to be kept.
    pub(crate) fn into_owned(self) -> Said<'static> {
        let owned = |text: Cow<str>| Cow::Owned(text.into_owned());
        Said {
            method: owned(self.method),
            params: self.params.map(owned),
            meta: self.meta.map(owned),
        }
    }

    /// How many bytes it keeps.
    pub(crate) fn weight(&self) -> usize {
        let texts = [self.params(), self.meta()].into_iter().flatten();
        self.method.len() + texts.map(str::len).sum::<usize>()
    }
}

/// The wrapper of an MCP message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrapped<'a> {
    /// The connection (RFD mcp-over-acp).
    pub connection: Option<Cow<'a, str>>,
    /// The server, by either dialect's name for it.
    pub server: Option<Cow<'a, str>>,
    /// The id of its request (stateless dialect).
    pub request: Option<Cow<'a, str>>,
    /// The message that it carries, if it has a method.
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

    /// The host's number of the connection, if it names one of the host's ids.
    #[must_use]
    pub fn own_connection(&self) -> Option<ConnectionId> {
        self.connection
            .as_deref()?
            .strip_prefix(OWN_PREFIX)?
            .parse()
            .ok()
    }
}

/// The string that a JSON text represents, if it is a string.
fn text(json: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    serde_json::from_str(json).ok().map(|Text(text)| text)
}

/// The message in the params of an ACP message, if it has a method.
pub(crate) fn said(params: &str) -> Option<Said<'_>> {
    Some(Said {
        method: text(member(params, "method")?)?,
        params: member(params, "params")
            .filter(|params| *params != "null")
            .map(Cow::Borrowed),
        meta: meta(params).map(Cow::Borrowed),
    })
}

/// The `_meta` of an ACP message or answer, if it is an object.
#[must_use]
pub fn meta(body: &str) -> Option<&str> {
    member(body, "_meta").filter(|meta| meta.starts_with('{'))
}

/// The params of `mcp/connect`, by each of these names for the server.
#[must_use]
pub fn connect(names: &[&str], server: &str, meta: Option<&str>) -> String {
    let server = quoted(server);
    let names = names.iter().map(|name| (*name, Some(&*server)));
    let members: Vec<_> = names.chain([("_meta", meta)]).collect();
    object(&members)
}

/// The params of `mcp/disconnect`, by the JSON text of the connection's id.
#[must_use]
pub fn disconnect(connection: &str, meta: Option<&str>) -> String {
    object(&[("connectionId", Some(connection)), ("_meta", meta)])
}

/// The params of `mcp/message` on a connection, by the JSON text of its id.
pub(crate) fn on_connection(connection: &str, said: &Said) -> String {
    object(&[
        ("connectionId", Some(connection)),
        ("method", Some(&quoted(&said.method))),
        ("params", said.params()),
        ("_meta", said.meta()),
    ])
}

/// The same on a connection by the host's number.
#[must_use]
pub fn on_own(connection: ConnectionId, said: &Said) -> String {
    on_connection(&own(connection), said)
}

/// The id of a connection by the host's number.
#[must_use]
pub fn own(connection: ConnectionId) -> String {
    format!("\"{OWN_PREFIX}{connection}\"")
}

/// Providers that number their connections must not hit upon the host's ids: native proxies have both.
const OWN_PREFIX: &str = "acp-chain-";

/// The params of `mcp/message` for a request that stands alone, or a message that belongs to it.
#[must_use]
pub fn alone(server: &str, request: &str, said: &Said) -> String {
    object(&[
        ("serverId", Some(&quoted(server))),
        ("requestId", Some(&quoted(request))),
        ("method", Some(&quoted(&said.method))),
        ("params", said.params()),
        ("_meta", said.meta()),
    ])
}

/// Errors of the stateless dialect itself.
const OWN: [i64; 4] = [
    code::LIMIT,
    code::UNAVAILABLE,
    code::BACKEND,
    rpc_code::REQUEST_CANCELLED,
];

/// MCP's outcome as the stateless dialect carries it: inside a result, except for errors of the dialect itself.
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
    match outcome.kind() == Kind::Error && is_own() {
        true => outcome,
        false => Message::result(&object(&[(name, Some(body)), ("_meta", meta)])),
    }
}

/// MCP's outcome in a result that carries it, if there is one.
#[must_use]
pub fn carried(answer: &Message) -> Option<Message> {
    /// The required members of an error.
    #[derive(Deserialize)]
    struct Told {
        #[serde(rename = "code")]
        _code: i32,
        #[serde(rename = "message")]
        _message: String,
    }

    if let Some(result) = member(answer.body(), "result") {
        return Some(Message::result(result));
    }
    let error = member(answer.body(), "error")?;
    serde_json::from_str::<Told>(error).ok()?;
    // As text, so that its other members pass, too.
    let line = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#);
    Message::parse(line.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::beside;

    #[test]
    fn what_is_wrapped_comes_out_as_it_went_in() {
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
