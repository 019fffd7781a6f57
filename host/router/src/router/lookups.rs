//! Sessions whose projects are being looked up: their setup requests, and the client's later messages in them.
//!
//! The waiting messages are charged to an account, and count towards the client's backpressure.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_channel::limits::{Account, Charge, KEPT};
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Message, text_member};

/// How long a session waits for its project to be found. Its folder may be on a disk that hangs.
pub const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct Lookups {
    pub are_on: bool,
    /// Whether a session must not begin before its project is known.
    pub are_required: bool,
    /// By the request that waits.
    open: HashMap<ExchangeId, Lookup>,
    /// The lookups that named sessions wait for. Names are untrusted, so the hash has its own secret.
    sessions: HashMap<Arc<str>, ExchangeId, foldhash::quality::RandomState>,
    /// Lookups that have not been started, in order.
    unstarted: BTreeSet<ExchangeId>,
    kept: Account,
}

/// A request that waits, and the client's later messages in its session.
pub(super) struct Lookup {
    pub routed: Routed,
    /// The folder to look up, until the lookup is started.
    cwd: PathBuf,
    pub behind: Vec<WaitingMessage>,
}

/// A waiting message of the client.
pub(super) enum WaitingMessage {
    /// A request, which is open.
    Request(Routed),
    /// A notification, or an answer.
    Other(Message, Charge),
}

impl Lookups {
    /// No lookups, and turned off. Waiting messages will be charged to a part of this account.
    pub fn new(kept: &Account) -> Self {
        Self {
            are_on: false,
            are_required: false,
            open: HashMap::new(),
            sessions: HashMap::default(),
            unstarted: BTreeSet::new(),
            kept: kept.part(KEPT),
        }
    }

    /// The cost of the waiting messages, in bytes.
    pub fn waiting(&self) -> usize {
        self.kept.kept()
    }

    /// The folder whose project must be known before a request may go on.
    pub fn wanted(&self, routed: &Routed) -> Option<String> {
        let wants = self.are_on && routed.life.sets_up();
        wants.then(|| cwd(&routed.message)).flatten()
    }

    /// Lets a request wait for the project of this folder.
    pub fn wait(&mut self, number: ExchangeId, cwd: String, mut routed: Routed) {
        routed.charge = Some(self.kept.charge_anyway(routed.cost() + cwd.len()));
        self.unstarted.insert(number);
        if let Some(session) = routed.session() {
            self.sessions.insert(session.clone(), number);
        }
        let lookup = Lookup {
            routed,
            cwd: cwd.into(),
            behind: Vec::new(),
        };
        self.open.insert(number, lookup);
    }

    /// The queue for the client's messages in this session, if the session waits for a lookup.
    #[inline]
    pub fn behind(&mut self, session: Option<&Arc<str>>) -> Option<WaitingQueue<'_>> {
        if self.sessions.is_empty() {
            return None;
        }
        let lookup = self.open.get_mut(self.sessions.get(session?)?)?;
        Some(WaitingQueue(lookup, &self.kept))
    }

    pub fn has(&self, number: ExchangeId) -> bool {
        self.open.contains_key(&number)
    }

    /// Takes the lookups to start.
    pub fn take_unstarted(&mut self) -> Vec<(ExchangeId, PathBuf)> {
        let unstarted = std::mem::take(&mut self.unstarted).into_iter();
        let started = unstarted.filter_map(|number| {
            let lookup = self.open.get_mut(&number)?;
            Some((number, std::mem::take(&mut lookup.cwd)))
        });
        started.collect()
    }

    pub fn has_unstarted(&self) -> bool {
        !self.unstarted.is_empty()
    }

    /// Takes a request that waits, with the messages that wait behind it.
    pub fn take(&mut self, number: ExchangeId) -> Option<Lookup> {
        let mut lookup = self.open.remove(&number)?;
        self.unstarted.remove(&number);
        lookup.routed.charge = None;
        if let Some(session) = lookup.routed.session() {
            self.sessions.remove(session);
        }
        Some(lookup)
    }
}

/// The queue of the client's later messages in a session.
pub(super) struct WaitingQueue<'l>(&'l mut Lookup, &'l Account);

impl WaitingQueue<'_> {
    pub fn request(self, mut routed: Routed) {
        routed.charge = Some(self.1.charge_anyway(routed.cost()));
        self.0.behind.push(WaitingMessage::Request(routed));
    }

    pub fn other(self, message: Message) {
        let charge = self.1.charge_anyway(message.cost());
        self.0.behind.push(WaitingMessage::Other(message, charge));
    }
}

/// The working directory that a request gives its session.
pub(super) fn cwd(request: &Message) -> Option<String> {
    text_member(request.body(), "cwd")
}
