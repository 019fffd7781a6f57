//! What there is, on one connection, of messages that were not taken in yet: halves of them, and whole
//! ones that wait outside.

use acp_chain_channel::limits::{Account, Charge, MCP_FREE};

/// Why somebody is turned away whose load has no room.
pub const FULL: &str = "what MCP clients say takes too much before it is taken in";

/// What there is on one connection. It may be of [`MCP_FREE`] bytes; what is past them is kept on one
/// account with that of all others.
pub struct Load(Charge);

impl Load {
    /// Nothing yet.
    pub fn new(all: &Account) -> Self {
        Self(all.charge_anyway(0))
    }

    /// Notes that there are so many bytes now. Says whether there is room for them.
    pub fn holds(&mut self, bytes: usize) -> bool {
        self.0.resize(bytes.saturating_sub(MCP_FREE))
    }
}
