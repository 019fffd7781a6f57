//! The connections that one listener has accepted, at most [`MCP_CONNECTIONS`].

use std::io;
use std::sync::Arc;

use acp_chain_http::{Connections, PAUSE, Visitor};

use super::registry::Registry;
use acp_chain_channel::limits::MCP_CONNECTIONS;

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
