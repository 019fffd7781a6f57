//! The host's side: requests to the process that has the database.

#[cfg(feature = "database")]
mod in_memory;

use std::sync::Arc;

use acp_chain_rpc::worker::{CallError, Client};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::limits::{LimitError, check};
use crate::namespace::Namespace;
use crate::protocol::{Answer, Call, LINE, Loaded, StoreOutcome};

/// How many requests may wait for their answers.
const WAITING: usize = acp_chain_channel::limits::STORED_WAITING;

/// Loads and stores values in another process, which ends when the last clone of this is dropped.
#[derive(Clone, Debug)]
pub struct Keeper(Arc<Client<Answer>>);

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeeperError {
    /// A limit would be exceeded. The text is for the proxy.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The database cannot be used. The text is for the user: it names files.
    #[error("{0}")]
    Unavailable(String),
    /// Too many requests wait for their answers.
    #[error("too many requests for stored values wait for their answers")]
    Busy,
    /// The process has ended, or broken the protocol.
    #[error("the process that has the stored values has ended")]
    Gone,
}

impl Keeper {
    /// Uses the process that reads `requests` and writes `replies`. Must be called within a runtime of tokio.
    pub fn start(
        replies: impl AsyncRead + Send + Unpin + 'static,
        requests: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self(Arc::new(Client::start(replies, requests, WAITING, LINE)))
    }

    /// Loads the value under a key. The request is sent before this returns, in the order of calls.
    pub fn load(
        &self,
        namespace: &Namespace,
        key: &str,
    ) -> impl Future<Output = Result<Loaded, KeeperError>> + Send + use<> {
        let call = check(namespace, key, None).map(|()| Call::Load {
            namespace: namespace.clone(),
            key: key.to_owned(),
        });
        let answer = self.ask(call);
        async move {
            match answer.await? {
                Answer::Load(loaded) => Ok(loaded),
                _ => Err(KeeperError::Gone),
            }
        }
    }

    /// Stores a value, or removes it, if its version is still the given one: 0 if there is none. The request is sent
    /// before this returns, in the order of calls.
    pub fn store(
        &self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> impl Future<Output = Result<StoreOutcome, KeeperError>> + Send + use<> {
        let call = check(namespace, key, value).map(|()| Call::Store {
            namespace: namespace.clone(),
            key: key.to_owned(),
            version,
            value: value.map(str::to_owned),
        });
        let answer = self.ask(call);
        async move {
            match answer.await? {
                Answer::Store(outcome) => Ok(outcome),
                _ => Err(KeeperError::Gone),
            }
        }
    }

    /// Sends a call, unless it exceeds a limit.
    fn ask(
        &self,
        call: Result<Call, LimitError>,
    ) -> impl Future<Output = Result<Answer, KeeperError>> + Send + use<> {
        let sent = call.map_err(KeeperError::from);
        let sent = sent.and_then(|call| self.0.send(call).map_err(KeeperError::from));
        async move {
            let (_, answer) = sent?;
            match answer.await {
                Ok(Answer::Limit(limit)) => Err(limit.into()),
                Ok(Answer::Unavailable(why)) => Err(KeeperError::Unavailable(why)),
                Ok(answer) => Ok(answer),
                Err(_) => Err(KeeperError::Gone),
            }
        }
    }
}

impl From<CallError> for KeeperError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Busy => Self::Busy,
            CallError::Gone => Self::Gone,
        }
    }
}
