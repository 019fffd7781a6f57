//! The connections through one entrance, at most [`MCP_CONNECTIONS`].

use std::io;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_entrance::{Connections, Visitor};

use super::registry::Registry;
use acp_chain_channel::limits::MCP_CONNECTIONS;

/// How long to stop accepting when the system is out of resources.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves a new connection, unless it belongs to another user, in which case there is none. Waits for a while if the
/// system is out of resources.
pub async fn welcome<S, F>(
    connections: &mut Connections,
    registry: &Registry,
    came: io::Result<Option<S>>,
    serve: impl FnOnce(S, Arc<Visitor>) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    match came {
        Ok(None) => registry.turned_away("it is of another user"),
        Ok(Some(stream)) => {
            if connections.len() >= MCP_CONNECTIONS && !connections.make_room().await {
                return registry.turned_away("there are too many connections");
            }
            // All of them come from this machine.
            connections
                .serve(None, |visitor| serve(stream, visitor))
                .await;
        }
        Err(error) => {
            tracing::warn!("no MCP client gets in for a while: {error}");
            tokio::time::sleep(PAUSE).await;
        }
    }
}
