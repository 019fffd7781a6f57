//! The Unix socket that `acp-chain mcp-shim` connects to, or the system's equivalent.

use std::io;
use std::sync::Arc;

use acp_chain_http::Connections;
use tokio::task::JoinSet;

use super::connections::welcome;
use super::pipe;
use super::registry::Registry;
use acp_chain_channel::limits::MCP_CONNECTIONS;
use acp_chain_mcp::secret::Secret;
use acp_chain_system::Supervisor;
pub use acp_chain_system::local::{Address, Listener};

/// How many random characters a socket's name has. Paths of sockets must be short.
const NAME: usize = 16;

pub struct Socket {
    pub address: Address,
    /// Dropping it ends the task.
    _task: JoinSet<()>,
}

impl Socket {
    /// Creates a socket, and accepts clients.
    pub fn open(registry: &Arc<Registry>, by: Option<&Supervisor>) -> io::Result<Self> {
        let random = Secret::new()?;
        let (address, listener) = Listener::open(&random.reveal()[..NAME], by)?;
        let (registry, clear) = (Arc::clone(registry), address.clear());
        let mut task = JoinSet::new();
        task.spawn(async move {
            tokio::join!(clear, accept(&registry, listener));
        });
        Ok(Self {
            address,
            _task: task,
        })
    }
}

/// Accepts clients. Dropping the future closes their connections.
async fn accept(registry: &Arc<Registry>, mut listener: Listener) {
    let mut connections = Connections::new(MCP_CONNECTIONS);
    loop {
        let serve = |stream, visitor| pipe::serve(Arc::clone(registry), stream, visitor);
        let came = listener.accept().await;
        welcome(&mut connections, registry, came, serve).await;
    }
}
