//! What this server shares with its other replicas, by their store: who owns a session, which replica serves it, which
//! prompts were sent, how many connections and turns a user has.
//!
//! | file | what it is |
//! |---|---|
//! | `admission` | whether a message of a client may pass |
//! | `budget` | what users and groups may use in an hour |
//! | `calls` | calls to the store, counted |
//! | `denial` | why one may not, as an answer |
//! | `lease` | the right to serve a session |
//! | `listing` | lists of sessions, without those of others |
//! | `slot` | connections and turns that count at all replicas |
//! | `keep` | heartbeats: leases stay, or their connections end |
//! | `tickets` | tickets that open a WebSocket at any replica |
//!
//! Invariants:
//! - The answer that names a new session reaches its client only once the store knows its owner and its lease.
//! - Past [`Shared::is_alive`], no message of a client passes, and the connections with leases or slots end: another
//!   replica may have them a moment later.
//! - That a user owns a session is never taken away, so it may be remembered. Nothing else is.

mod admission;
mod budget;
mod calls;
mod denial;
mod keep;
mod lease;
mod listing;
mod slot;
mod tickets;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, Weak};
use std::time::Duration;

use acp_chain_rpc::Mutex;
use acp_chain_store::{Answer, Call, Client, Holder, LeaseName, SPELLING, StoreError, TakeRule};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

use self::budget::Part;
use self::calls::Calls;
use super::metrics::{Count, Page};
use super::spelling::plain;
use crate::User;

pub use self::admission::Passage;
pub use self::budget::Budgets;
pub use self::denial::Denial;
pub use self::lease::{Lease, SentPrompt};
pub use self::listing::SessionList;
pub use self::slot::Slot;

/// How long before a lease is over its connections end: as long as their agents and the children of those take for
/// that, which get four seconds at most.
const MARGIN: Duration = Duration::from_secs(5);

/// The shortest lease: it has room for some heartbeats, and for the end of agents.
pub const SHORTEST: Duration = Duration::from_secs(10);

/// How much later than this server its watch ends agents: the server ends only those of connections with leases or
/// slots.
const LATER: Duration = Duration::from_millis(500);

/// How many sessions are remembered to be their users' own.
const REMEMBERED: usize = 100_000;

/// How long the last call may take.
const LEAVING: Duration = Duration::from_secs(2);

/// How many takings of leases may be under way at once.
const STRIPES: usize = 64;

/// How many leases are looked for at once that were taken by calls without an answer.
const LOST: usize = 1024;

/// How many tickets are looked up at once: those who offer them are strangers.
const REDEEMED: usize = 4;

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
    pub budgets: Budgets,
    /// Ends the agents of a server that is stopped.
    pub watch: Watch,
}

/// Another process that ends all agents unless it is told something within a time: a server that is stopped (SIGSTOP)
/// cannot end them before another replica has their sessions.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(Option<Duration>) + Send + Sync>);

impl Watch {
    /// `tell` tells how long the agents may go on without another word; `None` is for ever.
    pub fn new(tell: impl Fn(Option<Duration>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    fn tell(&self, within: Option<Duration>) {
        (self.0)(within);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Watch")
    }
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
    calls: Calls,
    /// The name of this replica.
    replica: String,
    state: Mutex<State>,
    /// One lease of a name is taken at a time.
    taking: Vec<tokio::sync::Mutex<()>>,
    /// One for each lease that is looked for, after a call without an answer.
    lost: Arc<Semaphore>,
    /// One for each ticket that is looked up.
    redeeming: Arc<Semaphore>,
    /// What the store is still to be told.
    unsent: UnboundedSender<Call>,
    sending: Mutex<Option<UnboundedReceiver<Call>>>,
    figures: Figures,
}

/// Counts for the operator.
#[derive(Debug, Default)]
struct Figures {
    /// Look-ups that were answered without a call, and with one.
    remembered: Count,
    asked: Count,
    /// How often the leases were lost.
    lost: Count,
}

#[derive(Debug)]
struct State {
    /// The generation of this replica, unless it is over.
    generation: Option<u64>,
    /// Whether this replica has left: it gets no further generation.
    has_left: bool,
    /// Until when it goes on without another heartbeat, for us.
    until: Instant,
    /// The largest number that the store has given.
    seen: u64,
    /// The last revocation that was carried out; `None` before the first heartbeat.
    revocation: Option<u64>,
    /// The sessions that are known to be their users' own, by the spelling.
    own: HashSet<(LeaseName, Box<str>)>,
    leases: HashMap<LeaseName, Weak<Lease>>,
    /// How many slots have been asked for, which is the name of the next one.
    slots: u64,
    /// The bytes that were drawn, by user.
    parts: HashMap<String, Part>,
    /// Whether the log has the current failure of heartbeats.
    is_reported: bool,
    /// The kinds of other calls of which the last had no answer: the log has these failures.
    failing: HashSet<Discriminant<Call>>,
}

impl Shared {
    /// Begins to share, as the replica of this name. Must be called on the runtime that serves.
    pub async fn begin(settings: SharedSettings, replica: String) -> Result<Self, SharedError> {
        let (unsent, sending) = unbounded_channel();
        let shared = Self {
            calls: Calls::new(settings.client.clone()),
            settings,
            replica,
            state: Mutex::new(State {
                generation: None,
                has_left: false,
                until: Instant::now(),
                seen: 0,
                revocation: None,
                own: HashSet::new(),
                leases: HashMap::new(),
                slots: 0,
                parts: HashMap::new(),
                is_reported: false,
                failing: HashSet::new(),
            }),
            taking: (0..STRIPES)
                .map(|_| tokio::sync::Mutex::default())
                .collect(),
            lost: Arc::new(Semaphore::new(LOST)),
            redeeming: Arc::new(Semaphore::new(REDEEMED)),
            unsent,
            sending: Mutex::new(Some(sending)),
            figures: Figures::default(),
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

    /// Whether this replica still has its leases. A replica that was stopped for a while finds that out here.
    pub fn is_alive(&self) -> bool {
        let state = self.state.lock();
        state.generation.is_some() && Instant::now() < state.until
    }

    /// Whether the store could not be used for the last heartbeat.
    fn is_away(&self) -> bool {
        self.state.lock().is_reported
    }

    /// Writes what operators watch.
    pub fn write(&self, page: &mut Page) {
        // As far as the last heartbeat says.
        let is_reached = self.is_alive() && !self.is_away();
        page.value(
            "acp_chain_store_reached",
            "Whether the store of the replicas answers.",
            u8::from(is_reached),
        );
        let leases = {
            let state = self.state.lock();
            let held = state.leases.values();
            held.filter(|lease| lease.strong_count() > 0).count()
        };
        page.value(
            "acp_chain_leases",
            "Sessions that this replica has leased.",
            leases,
        );
        let figures = &self.figures;
        page.value(
            "acp_chain_leases_lost_total",
            "How often this replica lost all of its leases.",
            figures.lost.get(),
        );
        self.calls.write(page);
        page.values(
            "acp_chain_store_lookups_total",
            "Look-ups of a session's owner, by what answered.",
            "from",
            [
                ("memory", figures.remembered.get()),
                ("store", figures.asked.get()),
            ],
        );
    }

    /// This replica, unless it is over.
    fn holder(&self) -> Option<Holder> {
        let state = self.is_alive().then(|| self.state.lock());
        Some(self.holder_in(state?.generation?))
    }

    /// This replica, in a generation.
    fn holder_in(&self, generation: u64) -> Holder {
        Holder {
            replica: self.replica.clone(),
            generation,
        }
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
        let kind = discriminant(&call);
        match self.calls.ask(call).await {
            Ok(answer) => {
                self.state.lock().failing.remove(&kind);
                Ok(answer)
            }
            Err(error) => {
                if matches!(error, StoreError::Limit(_)) {
                    return Err(Denial::Unknown);
                }
                // A full disk stays full for a while.
                if self.state.lock().failing.insert(kind) {
                    tracing::warn!("the store of the replicas cannot be asked: {error}");
                }
                Err(Denial::Unavailable(self.again()))
            }
        }
    }

    /// Notes that this session is the user's own.
    fn remember(&self, name: &LeaseName, spelling: &str) {
        self.state.lock().remember(name, spelling);
    }

    fn is_remembered(&self, name: &LeaseName, spelling: &str) -> bool {
        // A set of pairs cannot be searched by borrowed parts.
        let key = (name.clone(), spelling.into());
        self.state.lock().own.contains(&key)
    }

    /// Goes on until this time without another heartbeat.
    fn go_on_until(&self, until: Instant) {
        self.state.lock().until = until;
        let left = until.saturating_duration_since(Instant::now());
        self.settings.watch.tell(Some(left + LATER));
    }

    /// Ends this replica's generation, with all leases that it still has.
    pub async fn leave(&self) {
        self.settings.watch.tell(None);
        let generation = {
            let mut state = self.state.lock();
            state.has_left = true;
            state.generation.take()
        };
        if let Some(generation) = generation {
            let holder = self.holder_in(generation);
            let last = async {
                let _ = self.calls.ask(Call::Leave { holder }).await;
                for call in self.returned_parts() {
                    let _ = self.calls.ask(call).await;
                }
            };
            // Without the first, the leases are over a little later.
            let _ = timeout(LEAVING, last).await;
        }
    }
}

impl State {
    /// Notes that this session is the user's own.
    fn remember(&mut self, name: &LeaseName, spelling: &str) {
        if self.own.len() >= REMEMBERED {
            self.own.clear();
        }
        self.own.insert((name.clone(), spelling.into()));
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
