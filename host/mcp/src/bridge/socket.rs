//! Where `acp-chain mcp-shim` connects: a socket, or what the system has in its place.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use super::connections::Connections;
use super::pipe;
use super::registry::Registry;
use crate::secret::Secret;
use acp_chain_system::Supervisor;
pub use acp_chain_system::local::{Address, Listener};

/// So much of a random text tells sockets apart. Paths of sockets are short.
const NAME: usize = 16;

/// How long nobody is let in when the system has no more to give.
const PAUSE: Duration = Duration::from_millis(100);

/// The socket.
pub struct Socket {
    address: Address,
    task: AbortHandle,
}

impl Socket {
    /// Makes it, and lets clients in.
    pub fn open(registry: &Arc<Registry>, by: Option<&Supervisor>) -> io::Result<Self> {
        let random = Secret::new()?;
        let (address, listener) = Listener::open(&random.reveal()[..NAME], by)?;
        let (registry, clear) = (Arc::clone(registry), address.clear());
        let task = tokio::spawn(async move {
            tokio::join!(clear, accept(&registry, listener));
        });
        Ok(Self {
            address,
            task: task.abort_handle(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.address.path()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Lets clients in; ends with all of them when it is dropped.
async fn accept(registry: &Arc<Registry>, mut listener: Listener) {
    let mut connections = Connections::default();
    loop {
        match listener.accept().await {
            Ok(None) => registry.turned_away("it is of another user"),
            Ok(Some(stream)) => {
                let serve = |known| pipe::serve(Arc::clone(registry), stream, known);
                if !connections.serve(serve).await {
                    registry.turned_away("there are too many connections");
                }
            }
            Err(error) => {
                tracing::warn!("no MCP client gets in for a while: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
