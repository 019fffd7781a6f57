//! The params of `mcp/message` and its kin, in both dialects.

use std::borrow::Cow;

use serde_json::json;

use acp_chain_rpc::member;

/// What a message of MCP's is wrapped in. Texts are JSON, unless they are decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrapped<'a> {
    /// The connection (RFD mcp-over-acp).
    pub connection: Option<Cow<'a, str>>,
    /// The server, by whatever name the dialect has for it.
    pub server: Option<Cow<'a, str>>,
    /// The request that it is or belongs to (stateless dialect).
    pub request: Option<Cow<'a, str>>,
    /// MCP's method.
    pub method: Option<Cow<'a, str>>,
    /// MCP's params as they came; `None` also where they are `null`.
    pub params: Option<&'a str>,
    /// What whoever wraps it says beside it, an object.
    pub meta: Option<&'a str>,
}

impl<'a> Wrapped<'a> {
    /// Takes apart the params of an ACP message.
    #[must_use]
    pub fn read(params: &'a str) -> Self {
        let text = |name| member(params, name).and_then(|text| serde_json::from_str(text).ok());
        Self {
            connection: text("connectionId"),
            server: text("acpId").or_else(|| text("serverId")),
            request: text("requestId"),
            method: text("method"),
            params: member(params, "params").filter(|params| *params != "null"),
            meta: meta(params),
        }
    }
}

/// The `_meta` of an ACP message or answer, if it is an object.
#[must_use]
pub fn meta(body: &str) -> Option<&str> {
    member(body, "_meta").filter(|meta| meta.starts_with('{'))
}

/// The params of `mcp/connect`, for a reader of either spelling.
#[must_use]
pub fn connect(server: &str) -> String {
    json!({ "acpId": server, "serverId": server }).to_string()
}

/// The params of `mcp/disconnect`.
#[must_use]
pub fn disconnect(connection: &str) -> String {
    json!({ "connectionId": connection }).to_string()
}

/// The params of `mcp/message` on a connection.
#[must_use]
pub fn on_connection(
    connection: &str,
    method: &str,
    params: Option<&str>,
    meta: Option<&str>,
) -> String {
    let names = [("connectionId", connection), ("method", method)];
    compose(&names, params, meta)
}

/// The params of `mcp/message` for a request that stands alone, or for what belongs to it.
#[must_use]
pub fn alone(
    server: &str,
    request: &str,
    method: &str,
    params: Option<&str>,
    meta: Option<&str>,
) -> String {
    let names = [
        ("serverId", server),
        ("requestId", request),
        ("method", method),
    ];
    compose(&names, params, meta)
}

fn compose(names: &[(&str, &str)], params: Option<&str>, meta: Option<&str>) -> String {
    let length = params.map_or(0, str::len) + meta.map_or(0, str::len);
    let mut text = String::with_capacity(length + 128);
    for (name, value) in names {
        text.push(if text.is_empty() { '{' } else { ',' });
        // A text always serializes.
        let value = serde_json::to_string(value).unwrap_or_default();
        for part in ["\"", name, "\":", &value] {
            text.push_str(part);
        }
    }
    for (name, value) in [("params", params), ("_meta", meta)] {
        if let Some(value) = value {
            for part in [",\"", name, "\":", value] {
                text.push_str(part);
            }
        }
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_comes_out_as_it_went_in() {
        let params = r#"{ "x" : 1e400}"#;
        let wrapped = on_connection("c\"1", "tools/call", Some(params), Some("{ }"));
        let read = Wrapped::read(&wrapped);
        assert_eq!(read.connection.as_deref(), Some("c\"1"));
        assert_eq!(read.method.as_deref(), Some("tools/call"));
        assert_eq!((read.params, read.meta), (Some(params), Some("{ }")));
        let wrapped = alone("s", "r", "ping", None, None);
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
