//! What a connection needs to begin its work.

use tokio::io::{AsyncRead, AsyncWrite};

use super::Member;
use crate::native::Process;
use crate::rpc::LineReader;

/// The lines that come from one end.
pub(super) type Reader = LineReader<Box<dyn AsyncRead + Send + Unpin>>;

/// Everything behind the client: the proxies in order, and the agent.
#[derive(Debug)]
pub struct Chain {
    /// The proxies, the client's neighbour first.
    pub proxies: Vec<Member>,
    /// The agent.
    pub agent: AgentLink,
    /// What the user is to be told in the first turn.
    pub notices: Vec<String>,
}

/// The two streams of an agent, or of a native proxy, and its process if it has one.
pub struct AgentLink {
    /// What it writes.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What it reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// The process, which ends with the connection.
    pub process: Option<Process>,
}

impl std::fmt::Debug for AgentLink {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("AgentLink")
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// Why a chain could not begin.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// What is wrong, and with what, in one or two sentences.
    pub message: String,
    /// What the process exits with if nothing better happens.
    pub exit_code: u8,
}
