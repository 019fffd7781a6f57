//! The bytes of a connection's messages before they are received by their link: incomplete messages, and complete ones
//! that wait for room.

use acp_chain_channel::limits::{Account, Charge, MCP_FREE};
use acp_chain_http::body::Budget;

/// Why a client without room for its load is rejected.
pub const FULL: &str = "the incoming messages of MCP clients are too large together";

/// The load of one connection. [`MCP_FREE`] bytes are free; those past them are kept on one account with all others.
pub struct Load {
    charge: Charge,
    bytes: usize,
}

impl Load {
    /// A load of 0 bytes.
    pub fn new(all: &Account) -> Self {
        let charge = all.charge_anyway(0);
        Self { charge, bytes: 0 }
    }

    /// Sets the current number of bytes. Returns whether there is room for them.
    pub fn holds(&mut self, bytes: usize) -> bool {
        self.bytes = bytes;
        self.charge.resize(bytes.saturating_sub(MCP_FREE))
    }
}

impl Budget for Load {
    async fn take(&mut self, more: usize) -> bool {
        self.holds(self.bytes + more)
    }
}
