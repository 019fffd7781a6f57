//! The connections that one listener has accepted, at most [`MCP_CONNECTIONS`], and the bytes of their messages before
//! those are received by their link: incomplete messages, and complete ones that wait for room.

use std::io;
use std::sync::Arc;

use acp_chain_http::body::Budget;
use acp_chain_http::{Connections, PAUSE, Visitor};

use super::registry::Registry;
use acp_chain_channel::limits::{Account, Charge, MCP_CONNECTIONS, MCP_FREE};

/// Serves an accepted connection. `came` is `None` if the connection belonged to another user. After an error, such as
/// a system out of resources, waits for [`PAUSE`].
pub async fn welcome<S, F>(
    connections: &mut Connections,
    registry: &Registry,
    came: io::Result<Option<S>>,
    serve: impl FnOnce(S, Arc<Visitor>) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    match came {
        Ok(None) => registry.rejected("it belongs to another user"),
        Ok(Some(stream)) => {
            let room = |count| (count < MCP_CONNECTIONS).then_some(());
            let serve = |visitor, ()| serve(stream, visitor);
            // All of them come from this machine.
            if !connections.welcome(None, room, serve).await {
                registry.rejected("there are too many connections");
            }
        }
        Err(error) => {
            tracing::warn!("accepting MCP clients is paused: {error}");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

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
