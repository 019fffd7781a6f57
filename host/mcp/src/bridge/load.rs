//! The bytes of messages on one connection that were not taken in yet: incomplete ones, and complete ones that wait
//! outside.

use acp_chain_channel::limits::{Account, Charge, MCP_FREE};

/// Why a client without room for its load is turned away.
pub const FULL: &str = "what MCP clients say takes too much before it is taken in";

/// The load of one connection. [`MCP_FREE`] bytes are free; those past them are kept on one account with all others.
pub struct Load(Charge);

impl Load {
    /// Nothing yet.
    pub fn new(all: &Account) -> Self {
        Self(all.charge_anyway(0))
    }

    /// Sets the current number of bytes. Returns whether there is room for them.
    pub fn holds(&mut self, bytes: usize) -> bool {
        self.0.resize(bytes.saturating_sub(MCP_FREE))
    }
}
