//! How the agent reaches the servers in the chain: the settings `[mcp]` of a manifest.

use serde::Deserialize;

/// How an agent's MCP client reaches a server.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BridgeKind {
    /// Lines on the standard streams of `acp-chain mcp-shim`.
    #[default]
    Stdio,
    /// MCP's streamable HTTP, versions 2024-11-05 to 2026-07-28.
    Http,
}

/// The settings. Without a setting, [the agent's capabilities](crate::capabilities) decide.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// The bridge for an agent that supports both kinds.
    pub bridge: Option<BridgeKind>,
    /// Whether the agent keeps one connection to a server for all of its sessions.
    pub shared: Option<bool>,
}

impl Reach {
    /// Missing settings are taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            bridge: self.bridge.or(other.bridge),
            shared: self.shared.or(other.shared),
        }
    }
}
