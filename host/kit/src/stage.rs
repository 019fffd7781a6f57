//! A chain in this process, whose two ends are played message by message, for as long as one likes.
//!
//! As in a transcript, the components and the chain are those of a run, and time is simulated: it passes only when
//! everything waits.

use std::time::Duration;

use acp_chain_channel::{Failure, Peer};
use acp_chain_conductor::StoredValues;
use acp_chain_rpc::{Id, Message};
use acp_chain_state::{Keeper, StateError};
use tokio::time::{sleep, timeout};

use crate::observed::Observations;
use crate::transcript::play::{AGENT, CLIENT};
use crate::transcript::wire::{self, Wire};

pub use crate::observed::CallRecord;
pub use crate::transcript::Tested;
pub use crate::transcript::wire::runtime;

/// How much simulated time passes before the chain is given up: no proxy may hold a message for so long.
const LONGEST: Duration = Duration::from_hours(25);

/// A running chain, and its two ends.
pub struct Stage {
    client: Wire,
    agent: Wire,
    /// What each proxy does, the client's neighbour first.
    watches: Vec<(String, Observations)>,
}

/// Why a chain does not start, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A proxy does not start.
    #[error("the proxy `{proxy}` does not start: {failure}{}", .failure.details())]
    DoesNotStart {
        /// Its name.
        proxy: String,
        /// The cause.
        failure: Failure,
    },
    /// Values cannot be kept in memory.
    #[error("values cannot be stored: {0}")]
    Values(StateError),
    /// The chain accepts no more messages, or sends none.
    #[error("the chain does not go on")]
    Stuck,
}

impl Stage {
    /// Starts a chain, the client's neighbour first. Guards come last, unless the chain is as written. Must be called
    /// within a [`runtime`].
    pub async fn start(proxies: Vec<Tested>, is_as_written: bool) -> Result<Self, StageError> {
        let names = proxies.iter().map(|tested| tested.guest.name.to_string());
        let watches = names.map(|name| (name, Observations::default()));
        let watches: Vec<_> = watches.collect();
        let watch = |name: &str| {
            let mut watches = watches.iter();
            let found = watches.find(|(known, _)| known == name);
            found.map(|(_, watch)| watch.clone()).unwrap_or_default()
        };
        let started = wire::members(proxies, is_as_written, watch).await;
        let members =
            started.map_err(|(proxy, failure)| StageError::DoesNotStart { proxy, failure })?;
        let names = watches.iter().map(|(name, _)| name.as_str());
        let keeper = Keeper::in_memory().map_err(StageError::Values)?;
        let values = StoredValues::apart(keeper, names);
        let [client, agent] = wire::serve(members, values);
        Ok(Self {
            client,
            agent,
            watches,
        })
    }

    /// The parameters of a client's `initialize`, and the agent's result: of ends that can do everything.
    pub fn greeting() -> [&'static str; 2] {
        [CLIENT, AGENT]
    }

    /// Sends a request of an end. The parameters are JSON.
    pub async fn ask(
        &mut self,
        from: Peer,
        id: u64,
        method: &str,
        params: &str,
    ) -> Result<(), StageError> {
        let asked = self.end(from).ask(&id.to_string(), method, &params).await;
        asked.map_err(|_| StageError::Stuck)
    }

    /// Answers a request that an end has received. The result is JSON.
    pub async fn answer(&mut self, from: Peer, id: &Id, result: &str) -> Result<(), StageError> {
        let answered = self.end(from).answer(id, "result", &result).await;
        answered.map_err(|_| StageError::Stuck)
    }

    /// Rejects a request that an end has received. The error is JSON.
    pub async fn reject(&mut self, from: Peer, id: &Id, error: &str) -> Result<(), StageError> {
        let answered = self.end(from).answer(id, "error", &error).await;
        answered.map_err(|_| StageError::Stuck)
    }

    /// Waits for the next message of either end, with its receiver.
    pub async fn next(&mut self) -> Result<(Peer, Message), StageError> {
        loop {
            let Self { client, agent, .. } = self;
            let arriving = async {
                tokio::select! {
                    biased;
                    message = client.next() => message.map(|message| (Peer::Client, message)),
                    message = agent.next() => message.map(|message| (Peer::Agent, message)),
                }
            };
            let arrived = timeout(LONGEST, arriving).await;
            match arrived {
                Ok(arrived) => return arrived.ok_or(StageError::Stuck),
                Err(_) if self.watches.iter().any(|(_, watch)| watch.is_busy()) => {}
                Err(_) => return Err(StageError::Stuck),
            }
        }
    }

    /// Waits for so much simulated time.
    pub async fn wait(time: Duration) {
        sleep(time).await;
    }

    /// The proxy that sent this message, if no other has changed it.
    pub fn sender(&self, to: Peer, message: &Message) -> Option<&str> {
        let mut watches = self.watches.iter();
        let sender = watches.find(|(_, watch)| watch.is_own(to, message));
        sender.map(|(name, _)| name.as_str())
    }

    /// Takes what the proxies have been called with since the last time, and what came of it: by proxy.
    pub fn calls(&self) -> impl Iterator<Item = (&str, Vec<CallRecord>)> {
        let watches = self.watches.iter();
        watches.map(|(name, watch)| (name.as_str(), watch.take_calls()))
    }

    fn end(&mut self, peer: Peer) -> &mut Wire {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }
}
