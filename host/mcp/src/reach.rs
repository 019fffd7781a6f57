//! How the agent reaches the servers in the chain, as far as there is a choice: `[mcp]` in a manifest.

use serde::Deserialize;

use crate::bridge::BridgeKind;

/// What is chosen; the rest is as [the agent's capabilities](crate::capabilities) say.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// The bridge of an agent that supports both.
    pub bridge: Option<BridgeKind>,
    /// Whether the agent keeps one connection to a server for all of its sessions.
    pub shared: Option<bool>,
}

impl Reach {
    /// The choices, and those of another where there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            bridge: self.bridge.or(other.bridge),
            shared: self.shared.or(other.shared),
        }
    }
}
