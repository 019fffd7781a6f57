//! The streams of a part of a chain.

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Process, SpawnError};
use acp_chain_system::Startable;

/// The two streams of an agent, or of a native proxy, and its process if it has one.
pub struct ChildIo {
    /// Its output.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// Its input.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// The process, which ends with the connection.
    pub process: Option<Process>,
}

impl ChildIo {
    /// The streams of a peer whose process, if any, the host does not end.
    pub fn over(
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            output: Box::new(output),
            input: Box::new(input),
            process: None,
        }
    }

    /// Starts a program. `proxy` is the id of a proxy; `None` for the agent.
    pub fn start(program: &Startable, proxy: Option<&str>) -> Result<Self, SpawnError> {
        let (process, input, output) = Process::start(program, proxy)?;
        Ok(Self {
            output,
            input,
            process: Some(process),
        })
    }
}

impl std::fmt::Debug for ChildIo {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("ChildIo")
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}
