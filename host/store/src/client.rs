//! The server's side: calls to the process that has the store.

use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::worker::{self, CallError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::call::{Answer, Call};
use crate::limits::{LimitError, check};
use crate::protocol::{LINE, Outcome};

/// How many calls may wait for their answers.
pub(crate) const WAITING: usize = 4096;

/// How many heartbeats may wait beside them.
pub(crate) const BEATS: usize = 16;

/// How long a call may take: longer than the process waits for the database.
pub(crate) const PATIENCE: Duration = Duration::from_secs(6);

/// Asks the process that has the store, which ends when the last clone of this is dropped.
#[derive(Clone, Debug)]
pub struct Client(Arc<worker::Client<Outcome>>);

/// Why a call has no answer. It may have been carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The call can never be carried out.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The store cannot be used now. The text is for operators.
    #[error("{0}")]
    Unavailable(String),
    /// Too many calls wait for their answers.
    #[error("too many calls to the store wait for their answers")]
    Busy,
    /// There was no answer in time.
    #[error("the store did not answer within {} s", PATIENCE.as_secs())]
    Slow,
    /// The process has ended, or broken the protocol.
    #[error("the process that has the store has ended; restart acp-chain")]
    Gone,
}

impl Client {
    /// Uses the process that reads `requests` and writes `replies`. Must be called within a runtime of tokio.
    pub fn start(
        replies: impl AsyncRead + Send + Unpin + 'static,
        requests: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let client = worker::Client::start(replies, requests, WAITING + BEATS, LINE);
        Self(Arc::new(client))
    }

    /// Carries out a call, within six seconds at the latest.
    pub async fn ask(&self, call: Call) -> Result<Answer, StoreError> {
        check(&call)?;
        if !call.is_beat() && self.0.waiting() >= WAITING {
            return Err(StoreError::Busy);
        }
        let (id, outcome) = self.0.send(call)?;
        match timeout(PATIENCE, outcome).await {
            Ok(Ok(Outcome::Answer(answer))) => Ok(answer),
            Ok(Ok(Outcome::Limit(limit))) => Err(limit.into()),
            Ok(Ok(Outcome::Unavailable(why))) => Err(StoreError::Unavailable(why)),
            Ok(Err(_)) => Err(StoreError::Gone),
            Err(_) => {
                self.0.forget(id);
                Err(StoreError::Slow)
            }
        }
    }
}

impl From<CallError> for StoreError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Busy => Self::Busy,
            CallError::Gone => Self::Gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{duplex, split};

    use super::*;
    use crate::call::Holder;

    #[tokio::test]
    async fn there_is_room_for_a_heartbeat_beside_all_other_calls() {
        let (ours, _theirs) = duplex(64);
        let (replies, requests) = split(ours);
        let client = Client::start(replies, requests);
        let others = (0..WAITING).map(|_| client.0.send(Call::Replicas).unwrap());
        let _others: Vec<_> = others.collect();
        let refused = client.ask(Call::Replicas).await;
        assert_eq!(refused, Err(StoreError::Busy));
        let beat = client.ask(Call::Beat {
            holder: Holder {
                replica: "a".to_owned(),
                generation: 1,
            },
            lease: 1,
            seen: 0,
        });
        // It is sent, and waits for its answer.
        let waited = timeout(Duration::ZERO, beat).await;
        assert!(waited.is_err(), "{waited:?}");
    }
}
