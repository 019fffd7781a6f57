//! The MCP transports of an agent, and how the chain declares them.
//!
//! The chain connects any agent that supports some transport to servers over ACP. So it declares MCP over ACP to the
//! client and the proxies (RFD mcp-over-acp: bridging intermediaries).

use serde_json::value::RawValue;

use super::protocol::object;
use super::reach::BridgeKind;
use acp_chain_rpc::{edit, member, protocol_version, resolve};

/// The declared transports of an agent.
#[expect(clippy::struct_excessive_bools, reason = "each is declared separately")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// MCP over ACP.
    pub acp: bool,
    /// Streamable HTTP.
    pub http: bool,
    /// The agent starts servers, and communicates over stdio. In version 1 every agent must support this, but a few do
    /// not.
    pub stdio: bool,
    /// The protocol version distinguishes all transports by `type`.
    pub typed: bool,
    /// The agent keeps one connection to the server with a name for all of its sessions.
    pub shares: bool,
}

/// Name prefixes, in lower case, of agents with [`Capabilities::shares`]. If sessions have different entries with the
/// same name, fast-agent rejects the later session; Auggie and Hermes keep the first entry; opencode and Kilo replace
/// it by the last, for all sessions in a folder.
const SHARE: [&str; 5] = ["auggie", "fast-agent", "hermes", "kilo", "opencode"];

/// Name prefixes, in lower case, of agents that silently drop a client's server if they would have to start it.
const STARTS_NONE: [&str; 1] = ["copilot"];

/// The path of the capability in the result of `initialize`, by protocol version, and the value to write there.
const PLACES: [(&[&str], &str); 2] = [
    (&["agentCapabilities", "mcpCapabilities", "acp"], "true"),
    (&["capabilities", "session", "mcp", "acp"], "{}"),
];

impl Default for Capabilities {
    /// The capabilities of an agent that declares none.
    fn default() -> Self {
        Self::read("{}")
    }
}

impl Capabilities {
    /// Reads the result of `initialize`.
    pub fn read(result: &str) -> Self {
        let typed = is_typed(result);
        let has = |transport: &str| {
            let (place, _) = PLACES[usize::from(typed)];
            let pointer = format!("/{}/{transport}", place[..place.len() - 1].join("/"));
            let value = resolve(result, &pointer).ok().flatten();
            value.is_some_and(|value| value == "true" || value.starts_with('{'))
        };
        let name = name(result);
        let is_one_of = |known: &[&str]| known.iter().any(|known| name.starts_with(known));
        let http = has("http");
        Self {
            acp: has("acp"),
            http,
            stdio: (!typed || has("stdio")) && !(http && is_one_of(&STARTS_NONE)),
            typed,
            shares: is_one_of(&SHARE),
        }
    }

    /// The kind of bridge for the agent: the preferred kind if it is supported, otherwise the other. `None` if neither
    /// is.
    pub fn bridge(&self, wanted: BridgeKind) -> Option<BridgeKind> {
        let has = |transport: &BridgeKind| match transport {
            BridgeKind::Http => self.http,
            BridgeKind::Stdio => self.stdio,
        };
        let by_preference = [wanted, BridgeKind::Stdio, BridgeKind::Http];
        by_preference.into_iter().find(has)
    }
}

/// The agent's name, in lower case.
fn name(result: &str) -> String {
    let mut places = ["/agentInfo/name", "/info/name"].iter();
    let name = places.find_map(|at| resolve(result, at).ok().flatten());
    let name = name.and_then(|name| serde_json::from_str::<String>(name).ok());
    name.unwrap_or_default().to_ascii_lowercase()
}

fn is_typed(result: &str) -> bool {
    let version = member(result, "protocolVersion").and_then(protocol_version);
    version.is_some_and(|version| version >= 2)
}

/// Adds the capability for MCP over ACP to the result of `initialize`. `None` if it is declared already, the result has
/// no place for it, or the agent supports no kind of bridge.
pub fn with_acp(result: &str) -> Option<String> {
    let capabilities = Capabilities::read(result);
    if capabilities.acp || capabilities.bridge(BridgeKind::Stdio).is_none() {
        return None;
    }
    let (place, value) = PLACES[usize::from(capabilities.typed)];
    // Adds the rest of the path to the deepest existing object.
    let edited = (0..place.len()).rev().find_map(|depth| {
        let pointer = format!("/{}", place[..=depth].join("/"));
        let inner = place[depth + 1..].iter().rev();
        let value = inner.fold(value.to_owned(), |value, name| {
            object(&[(*name, Some(&value))])
        });
        edit(result, &pointer, Some(&value)).ok()
    })?;
    let is_json = serde_json::from_str::<&RawValue>(&edited).is_ok();
    is_json.then_some(edited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_as_declared() {
        let read = Capabilities::read;
        let v1 = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true,"acp":false}}}"#;
        assert!(read(v1).http && !read(v1).acp && !read(v1).typed);
        let v2 =
            r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"stdio":{},"acp":{}}}}}"#;
        assert!(!read(v2).http && read(v2).acp && read(v2).typed && read(v2).stdio);
        assert!(read(&v2.replace('2', "2.0")).typed);
        for none in [
            "{}",
            "null",
            r#"{"agentCapabilities":null}"#,
            r#"{"agentCapabilities":{"mcpCapabilities":{"acp":"true"}}}"#,
        ] {
            assert_eq!(read(none), Capabilities::default(), "{none}");
        }
    }

    #[test]
    fn mcp_over_acp_is_declared_for_every_agent_and_nothing_else_changes() {
        for (before, after) in [
            (
                r#"{"protocolVersion":1}"#,
                r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#,
            ),
            (
                r#"{ "agentCapabilities" : {"x":1e400} }"#,
                r#"{ "agentCapabilities" : {"x":1e400,"mcpCapabilities":{"acp":true}} }"#,
            ),
            (
                r#"{"agentCapabilities":{"mcpCapabilities":{"acp":false,"http":true}}}"#,
                r#"{"agentCapabilities":{"mcpCapabilities":{"acp":true,"http":true}}}"#,
            ),
            (
                r#"{"agentCapabilities":null}"#,
                r#"{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#,
            ),
            (
                r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#,
                r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{},"acp":{}}}}}"#,
            ),
        ] {
            assert_eq!(with_acp(before).as_deref(), Some(after));
        }
        for kept in [
            "null",
            "[]",
            r#"{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#,
            r#"{"protocolVersion":2,"capabilities":{"nes":{}}}"#,
            r#"{"protocolVersion":2,"capabilities":{"session":null}}"#,
            r#"{"protocolVersion":2,"capabilities":{"session":{}}}"#,
            r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"stdio":null}}}}"#,
        ] {
            assert_eq!(with_acp(kept), None, "{kept}");
        }
    }

    #[test]
    fn a_bridge_uses_stdio_unless_http_is_preferred_or_stdio_unsupported() {
        use BridgeKind::{Http, Stdio};
        let bridge = |result: &str, wanted| Capabilities::read(result).bridge(wanted);
        let both = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}"#;
        assert_eq!(bridge(both, Stdio), Some(Stdio));
        assert_eq!(bridge(both, Http), Some(Http));
        assert_eq!(bridge(r#"{"protocolVersion":1}"#, Http), Some(Stdio));
        let of_v2 = |mcp: &str| {
            format!(r#"{{"protocolVersion":2,"capabilities":{{"session":{{"mcp":{mcp}}}}}}}"#)
        };
        assert_eq!(bridge(&of_v2(r#"{"http":{}}"#), Stdio), Some(Http));
        assert_eq!(bridge(&of_v2("{}"), Stdio), None);
    }

    #[test]
    fn an_agent_that_starts_no_servers_gets_a_url() {
        use BridgeKind::{Http, Stdio};
        let bridge = |capabilities: &str| {
            let result = format!(
                r#"{{"protocolVersion":1,"agentInfo":{{"name":"Copilot"}},"agentCapabilities":{capabilities}}}"#
            );
            Capabilities::read(&result).bridge(Stdio)
        };
        assert_eq!(bridge(r#"{"mcpCapabilities":{"http":true}}"#), Some(Http));
        assert_eq!(bridge("{}"), Some(Stdio));
    }
}
