//! How a connection ends: what is open is answered, and the agent goes.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::Exit;
use super::connection::{BUDGET, Connection};
use crate::channel::Peer;
use crate::native;
use crate::rpc::{Error, code};

/// How long what is left may take to be written at the end.
const FLUSH: Duration = Duration::from_secs(1);

impl Connection {
    /// The client has left, or we are to stop: the agent goes too.
    pub async fn close(mut self, patience: bool) -> Exit {
        self.agent.input = None;
        let status = match &mut self.process {
            Some(process) => process.end(patience).await,
            None => None,
        };
        self.flush_client().await;
        // Ended by us, it did not fail.
        let ours = status.is_some_and(|status| status.code().is_none());
        Exit {
            code: status.filter(|_| !ours).map_or(0, native::exit_code),
        }
    }

    /// The agent has ended: whatever is open is answered, and the client told why.
    pub async fn mourn(mut self) -> Exit {
        let status = match &mut self.process {
            // Its output is closed; it gets a moment to be gone.
            Some(process) => process.end(true).await,
            None => None,
        };
        let error = self.obituary(status).await;
        tracing::error!("{error}");
        self.router.lose(Peer::Agent, &error);
        self.router.pump(BUDGET);
        self.router.settle_debts(Peer::Client, &error);
        self.flush_client().await;
        Exit {
            code: status.map_or(0, native::exit_code),
        }
    }

    async fn obituary(&mut self, status: Option<ExitStatus>) -> Error {
        let how = status.map_or_else(|| "closed its output".to_owned(), native::describe);
        let printed = match &mut self.process {
            Some(process) => process.last_words().await,
            None => String::new(),
        };
        let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: the agent {how}"));
        match printed.is_empty() {
            true => error,
            false => error.with_data(&serde_json::json!({ "stderr": printed })),
        }
    }

    async fn flush_client(&mut self) {
        let outbox = self.router.outbox(Peer::Client);
        if let Some(input) = &mut self.client.input {
            let write = async {
                input.write_all_buf(outbox).await?;
                input.flush().await
            };
            let _ = tokio::time::timeout(FLUSH, write).await;
        }
    }
}
