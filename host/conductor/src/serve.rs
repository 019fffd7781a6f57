//! The entry point: receives a client, starts a chain for it, and serves it until either end is closed. No other part
//! of the chain runs before the client's `initialize` has arrived.

use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitStatus;

use tokio::sync::mpsc;

use super::conductor::Conductor;
use super::handshake::Handshake;
use super::{Chain, Role, StartError};
use acp_chain_channel::Failure;
use acp_chain_recorder::Tracer;
use acp_chain_router::Swap;
use acp_chain_router::losses::Losses;
use acp_chain_rpc::transport::{Outbox, Transport};
use acp_chain_rpc::{Error, Id};

/// The settings of a connection.
#[derive(Debug)]
pub struct Settings {
    /// The trace that records every hop of every message, if any.
    pub trace: Option<Tracer>,
    /// This program, which the agent starts with the only argument `mcp-shim` to reach MCP servers within the chain.
    pub program: PathBuf,
    /// The path of the log, which notices to the user name.
    pub log: Option<PathBuf>,
    /// Newer versions of proxies, which replace them while the chain runs.
    pub swaps: Option<mpsc::Receiver<Swap>>,
    /// Whether the user is notified of proxies with tools to which the agent does not connect. A simulated agent need
    /// not connect.
    pub tells_of_unused_tools: bool,
    /// Whether the agent is simulated, and itself sends the requests about its tool runs; each is answered with its
    /// parameters once it has passed the proxies, or with an error.
    pub simulates_hooks: bool,
    /// Whether a chain in the role of a proxy gets requests about tool runs from its parent, which must be this
    /// program. Others have no such requests, so they are refused.
    pub sees_tool_runs: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trace: None,
            program: std::env::current_exe().unwrap_or_default(),
            log: None,
            swaps: None,
            tells_of_unused_tools: false,
            simulates_hooks: false,
            sees_tool_runs: false,
        }
    }
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The client disconnected, or the host had to stop, before there was a chain.
    NeverBegan,
    /// The chain and its agent have ended.
    Ended {
        /// The status with which the agent's process exited; `None` if the host ended it, or did not start it.
        agent: Option<ExitStatus>,
    },
}

/// Serves a client until it closes its side, the agent ends, or `stop` resolves.
///
/// `start` is called with the role of the chain at the client's `initialize`. If it fails, the client gets the error,
/// and `start` is called again at the next `initialize`.
pub async fn serve(
    client: Transport,
    mut start: impl AsyncFnMut(Role) -> Result<Chain, StartError>,
    stop: impl Future<Output = ()>,
    settings: Settings,
) -> Exit {
    let mut stop = pin!(stop);
    let mut handshake = Handshake {
        client,
        outbox: Outbox::default(),
        losses: Losses::default(),
    };
    let (role, initialize, chain) = loop {
        let waited = tokio::select! {
            initialize = handshake.wait() => initialize,
            () = &mut stop => None,
        };
        let Some((role, initialize)) = waited else {
            return Exit::NeverBegan;
        };
        let started = tokio::select! {
            started = start(role) => started,
            () = &mut stop => return Exit::NeverBegan,
        };
        match started.and_then(|chain| chain.fit(role)) {
            Ok(chain) => break (role, initialize, chain),
            Err(error) => {
                tracing::error!(target: Failure::TARGET, "the chain did not start: {error}");
                let text = format!("acp-chain: {error}");
                let id = initialize.id().unwrap_or_else(Id::null);
                handshake.tell(&id, &Error::new(error.code, text)).await;
            }
        }
    };
    let conductor = Conductor::new(handshake.client, role, chain, settings, initialize);
    conductor.run(stop).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_send<T: Send>(_: &T) {}

    #[test]
    fn a_connection_may_be_served_on_any_runtime() {
        let client = Transport::lines(tokio::io::empty(), tokio::io::sink(), 1024);
        let start = async |_| {
            Err(StartError {
                message: String::new(),
                code: 0,
            })
        };
        assert_send(&serve(
            client,
            start,
            std::future::pending(),
            Settings::default(),
        ));
    }
}
