//! What this server shares with its other replicas, by their store: who owns a session, which replica serves it, which
//! prompts were sent.
//!
//! | file | what it is |
//! |---|---|
//! | `admission` | whether a message of a client may pass |
//! | `denial` | why one may not, as an answer |
//! | `lease` | the right to serve a session |
//! | `listing` | lists of sessions, without those of others |
//! | `keep` | heartbeats: leases stay, or their connections end |
//!
//! Invariants:
//! - The answer that names a new session reaches its client only once the store knows its owner and its lease.
//! - Past [`Shared::is_alive`], no message of a client passes, and the connections with leases end: another replica may
//!   have them a moment later.
//! - That a user owns a session is never taken away, so it may be remembered. Nothing else is.

mod admission;
mod denial;
mod keep;
mod lease;
mod listing;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use acp_chain_store::{Answer, Call, Client, Holder, LeaseName, SPELLING, StoreError, TakeRule};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

use super::spelling::plain;
use crate::User;

pub use self::denial::Denial;
pub use self::lease::{Lease, SentPrompt};
pub use self::listing::SessionList;

/// How long before a lease is over its connections end: as long as their agents take for that.
const MARGIN: Duration = Duration::from_secs(3);

/// The shortest lease: it has room for some heartbeats, and for the end of agents.
pub const SHORTEST: Duration = Duration::from_secs(6);

/// How many sessions are remembered to be their users' own.
const REMEMBERED: usize = 100_000;

/// How long the last call may take.
const LEAVING: Duration = Duration::from_secs(2);

/// How many takings of leases may be under way at once.
const STRIPES: usize = 64;

/// The settings of what is shared.
#[derive(Clone, Debug)]
pub struct SharedSettings {
    /// Asks the process that has the store.
    pub client: Client,
    /// Where the agents keep their sessions: servers of other agents have another name for it.
    pub agents: String,
    /// How long a lease goes on without heartbeats, at least [`SHORTEST`].
    pub lease: Duration,
    /// Whether a session that nobody owns may be loaded.
    pub admits_unowned: bool,
    /// How many sessions a user may have at all replicas.
    pub sessions_per_user: Option<u64>,
    /// How many prompts a user may send in an hour, at all replicas.
    pub prompts_per_hour: Option<u64>,
    /// Whether prompts pass while the store cannot be asked what was used of that.
    pub opens_budgets: bool,
}

/// Why nothing can be shared.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// The store cannot be used.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Another replica has this name.
    #[error(
        "another replica is called {name}, and is alive for {} s without a heartbeat; give each its own `node`",
        again.as_secs()
    )]
    NameTaken { name: String, again: Duration },
    /// The process of the store breaks the protocol.
    #[error("the process that has the store does not answer as it should")]
    Odd,
}

/// What this server shares.
#[derive(Debug)]
pub struct Shared {
    settings: SharedSettings,
    /// The name of this replica.
    replica: String,
    state: Mutex<State>,
    /// One lease of a name is taken at a time.
    taking: Vec<tokio::sync::Mutex<()>>,
    /// What the store is still to be told.
    unsent: UnboundedSender<Call>,
    sending: Mutex<Option<UnboundedReceiver<Call>>>,
}

#[derive(Debug)]
struct State {
    /// The generation of this replica, unless it is over.
    generation: Option<u64>,
    /// Until when it goes on without another heartbeat, for us.
    until: Instant,
    /// The largest number that the store has given.
    seen: u64,
    /// The last revocation that was carried out; `None` before the first heartbeat.
    revocation: Option<u64>,
    /// The sessions that are known to be their users' own, by the spelling.
    own: HashSet<(LeaseName, Box<str>)>,
    leases: HashMap<LeaseName, Weak<Lease>>,
    /// Whether the log has the current failure.
    is_reported: bool,
}

impl Shared {
    /// Begins to share, as the replica of this name. Must be called on the runtime that serves.
    pub async fn begin(settings: SharedSettings, replica: String) -> Result<Self, SharedError> {
        let (unsent, sending) = unbounded_channel();
        let shared = Self {
            settings,
            replica,
            state: Mutex::new(State {
                generation: None,
                until: Instant::now(),
                seen: 0,
                revocation: None,
                own: HashSet::new(),
                leases: HashMap::new(),
                is_reported: false,
            }),
            taking: (0..STRIPES)
                .map(|_| tokio::sync::Mutex::default())
                .collect(),
            unsent,
            sending: Mutex::new(Some(sending)),
        };
        // A replica of this name that was killed is over after its lease.
        let begun = Instant::now();
        loop {
            let registered = shared.register().await;
            match registered {
                Err(SharedError::NameTaken { again, .. })
                    if begun.elapsed() < shared.settings.lease =>
                {
                    tokio::time::sleep(again + Duration::from_millis(100)).await;
                }
                registered => break registered.map(|()| shared),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this replica still has its leases. A replica that was stopped for a while finds that out here.
    pub fn is_alive(&self) -> bool {
        let state = self.state();
        state.generation.is_some() && Instant::now() < state.until
    }

    /// Whether the store answers, as far as the last heartbeat says.
    pub fn is_reached(&self) -> bool {
        self.is_alive() && !self.state().is_reported
    }

    /// This replica, unless it is over.
    fn holder(&self) -> Option<Holder> {
        let generation = self.is_alive().then(|| self.state().generation).flatten()?;
        Some(Holder {
            replica: self.replica.clone(),
            generation,
        })
    }

    /// A session of a user; `None` if no session has such a name.
    fn name(&self, spelling: &str, user: &User) -> Option<LeaseName> {
        if spelling.len() > SPELLING || spelling.contains('\0') {
            return None;
        }
        let digest: [u8; 32] = Sha256::digest(plain(spelling).as_bytes()).into();
        Some(LeaseName {
            agents: self.settings.agents.clone(),
            session: HEXLOWER.encode(&digest),
            user: user.name.clone(),
        })
    }

    /// Which sessions may be loaded.
    fn rule(&self) -> TakeRule {
        if self.settings.admits_unowned {
            TakeRule::Unowned
        } else {
            TakeRule::OwnedOnly
        }
    }

    /// After how long what is not possible now may be.
    fn again(&self) -> Duration {
        self.settings.lease / 3
    }

    /// Asks the store. An error is logged, and the client is asked to come again.
    async fn ask(&self, call: Call) -> Result<Answer, Denial> {
        let asked = self.settings.client.ask(call).await;
        asked.map_err(|error| {
            if matches!(error, StoreError::Limit(_)) {
                return Denial::Unknown;
            }
            tracing::warn!("the store of the replicas cannot be asked: {error}");
            Denial::Unavailable(self.again())
        })
    }

    /// Notes that this session is the user's own.
    fn remember(&self, name: &LeaseName, spelling: &str) {
        let mut state = self.state();
        if state.own.len() >= REMEMBERED {
            state.own.clear();
        }
        state.own.insert((name.clone(), spelling.into()));
    }

    fn is_remembered(&self, name: &LeaseName, spelling: &str) -> bool {
        // A set of pairs cannot be searched by borrowed parts.
        let key = (name.clone(), spelling.into());
        self.state().own.contains(&key)
    }

    /// Ends this replica's generation, with all leases that it still has.
    pub async fn leave(&self) {
        let generation = self.state().generation.take();
        if let Some(generation) = generation {
            let holder = Holder {
                replica: self.replica.clone(),
                generation,
            };
            let left = self.settings.client.ask(Call::Leave { holder });
            // Without it, the leases are over a little later.
            let _ = timeout(LEAVING, left).await;
        }
    }
}
