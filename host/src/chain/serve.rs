//! The way in: a client is received, a chain is started for it, and served until either end is
//! gone. Nothing behind the client runs before its `initialize` is there.

use std::path::PathBuf;
use std::pin::pin;

use tokio::io::{AsyncRead, AsyncWrite};

use super::conductor::Conductor;
use super::handshake::Handshake;
use super::{Chain, Role, StartError};
use crate::limits::LINE;
use crate::rpc::{Error, Id, LineReader, Outbox};
use crate::trace::Trace;

/// The two streams of the client.
pub struct Client {
    /// Where we read what it writes.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// Where we write what it reads.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Client {
    /// A client that is read from and written to here.
    pub fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// How a connection works.
#[derive(Debug)]
pub struct Settings {
    /// The longest message that is taken, in bytes.
    pub message_limit: usize,
    /// Where every leg of every message is written.
    pub trace: Option<Trace>,
    /// This program, which the agent starts to reach MCP servers within the chain, with the one
    /// argument `mcp-shim`.
    pub program: PathBuf,
    /// The log, for the user to find more about what failed.
    pub log: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            message_limit: LINE,
            trace: None,
            program: std::env::current_exe().unwrap_or_default(),
            log: None,
        }
    }
}

/// How a connection ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The code to exit with: the agent's own, or that of a chain that never began.
    pub code: u8,
}

/// Serves a client until it closes its side, the agent ends, or `stop` is done.
///
/// `start` is called at the client's `initialize`, and again at the next one if it fails. It is told
/// which role the chain has to play.
pub async fn serve(
    client: Client,
    mut start: impl AsyncFnMut(Role) -> Result<Chain, StartError>,
    stop: impl Future<Output = ()>,
    settings: Settings,
) -> Exit {
    let mut stop = pin!(stop);
    let mut reader = LineReader::new(client.reader, settings.message_limit);
    let mut handshake = Handshake {
        input: client.writer,
        outbox: Outbox::default(),
    };
    let mut exit = Exit::default();
    let (role, initialize, chain) = loop {
        let waited = tokio::select! {
            initialize = handshake.wait(&mut reader) => initialize,
            () = &mut stop => None,
        };
        let Some((role, initialize)) = waited else {
            return exit;
        };
        let started = tokio::select! {
            started = start(role) => started,
            () = &mut stop => return exit,
        };
        match started.and_then(|chain| chain.fit(role)) {
            Ok(chain) => break (role, initialize, chain),
            Err(error) => {
                tracing::error!("the chain did not start: {error}");
                exit.code = error.exit_code;
                let text = format!("acp-chain: {error}");
                let id = initialize.id().unwrap_or_else(Id::null);
                handshake.tell(&id, &Error::new(error.code, text)).await;
            }
        }
    };
    let conductor = Conductor::new(handshake.input, reader, role, chain, settings, initialize);
    conductor.run(stop).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_send<T: Send>(_: &T) {}

    #[test]
    fn a_connection_may_be_served_on_any_runtime() {
        let client = Client::over(tokio::io::empty(), tokio::io::sink());
        let start = async |_| {
            Err(StartError {
                message: String::new(),
                code: 0,
                exit_code: 1,
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
