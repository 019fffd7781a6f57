//! The connections through one entrance, at most [`MCP_CONNECTIONS`].

use std::io;
use std::sync::Arc;

use acp_chain_http::{Connections, PAUSE, Visitor};

use super::registry::Registry;
use acp_chain_channel::limits::MCP_CONNECTIONS;

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
            let room = |count| (count < MCP_CONNECTIONS).then_some(());
            let serve = |visitor, ()| serve(stream, visitor);
            // All of them come from this machine.
            if !connections.welcome(None, room, serve).await {
                registry.turned_away("there are too many connections");
            }
        }
        Err(error) => {
            tracing::warn!("no MCP client gets in for a while: {error}");
            tokio::time::sleep(PAUSE).await;
        }
    }
}
