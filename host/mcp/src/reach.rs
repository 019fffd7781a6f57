//! How the agent reaches the servers in the chain: the settings `[mcp]` of a manifest.

use serde::Deserialize;

use crate::bridge::BridgeKind;

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
