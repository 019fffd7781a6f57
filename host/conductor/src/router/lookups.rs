//! Sessions whose projects are being looked up: their setup requests, and what the client has said in them since.
//!
//! The waiting messages are kept on an account, and slow down reading from the client.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::time::Instant;

use crate::exchange::ExchangeId;
use crate::routed::Routed;
use acp_chain_channel::limits::{Account, Charge, KEPT};
use acp_chain_rpc::{Message, member};

pub(super) struct Lookups {
    are_on: bool,
    are_required: bool,
    /// By the request that waits.
    open: HashMap<ExchangeId, Lookup>,
    /// The lookup that named sessions wait for. Names are untrusted, so the hash has its own secret.
    sessions: HashMap<Arc<str>, ExchangeId, foldhash::quality::RandomState>,
    /// Lookups that have not been started, in order.
    unsaid: BTreeSet<ExchangeId>,
    kept: Account,
}

/// A request that waits, and what the client said later in its session.
pub(super) struct Lookup {
    pub routed: Routed,
    /// The folder to look at, until the lookup is started.
    cwd: PathBuf,
    /// When it stops waiting, once the lookup has started.
    pub due: Option<Instant>,
    pub behind: Vec<Arrived>,
}

/// A message of the client.
pub(super) enum Arrived {
    /// A request, already opened.
    Request(Routed),
    /// A notification, or an answer.
    Other(Message, Charge),
}

impl Lookups {
    /// No lookups, and turned off; waiting messages will be kept on a part of this account.
    pub fn new(kept: &Account) -> Self {
        Self {
            are_on: false,
            are_required: false,
            open: HashMap::new(),
            sessions: HashMap::default(),
            unsaid: BTreeSet::new(),
            kept: kept.part(KEPT),
        }
    }

    /// Looks projects up from here on.
    pub fn turn_on(&mut self, are_required: bool) {
        self.are_on = true;
        self.are_required = are_required;
    }

    /// Whether projects are looked up at all.
    pub fn are_on(&self) -> bool {
        self.are_on
    }

    /// Whether a session must not begin before its project is known.
    pub fn are_required(&self) -> bool {
        self.are_required
    }

    /// How many bytes wait.
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
        self.unsaid.insert(number);
        if let Some(session) = routed.session() {
            self.sessions.insert(session.clone(), number);
        }
        let lookup = Lookup {
            routed,
            cwd: cwd.into(),
            due: None,
            behind: Vec::new(),
        };
        self.open.insert(number, lookup);
    }

    /// Where to queue what the client says in this session, if anything waits in it.
    #[inline]
    pub fn behind(&mut self, session: Option<&Arc<str>>) -> Option<Behind<'_>> {
        if self.sessions.is_empty() {
            return None;
        }
        let lookup = self.open.get_mut(self.sessions.get(session?)?)?;
        Some(Behind(lookup, &self.kept))
    }

    pub fn has(&self, number: ExchangeId) -> bool {
        self.open.contains_key(&number)
    }

    /// The lookups to start, which are waited for until then.
    pub fn take_unsaid(&mut self, due: Instant) -> Vec<(ExchangeId, PathBuf)> {
        let unsaid = std::mem::take(&mut self.unsaid).into_iter();
        let started = unsaid.filter_map(|number| {
            let lookup = self.open.get_mut(&number)?;
            lookup.due = Some(due);
            Some((number, std::mem::take(&mut lookup.cwd)))
        });
        started.collect()
    }

    pub fn has_unsaid(&self) -> bool {
        !self.unsaid.is_empty()
    }

    /// Ends the wait of a request, and of everything in its session.
    pub fn take(&mut self, number: ExchangeId) -> Option<Lookup> {
        let mut lookup = self.open.remove(&number)?;
        self.unsaid.remove(&number);
        lookup.routed.charge = None;
        if let Some(session) = lookup.routed.session() {
            self.sessions.remove(session);
        }
        Some(lookup)
    }
}

/// Where the client's further messages in a session wait.
pub(super) struct Behind<'l>(&'l mut Lookup, &'l Account);

impl Behind<'_> {
    pub fn request(self, mut routed: Routed) {
        routed.charge = Some(self.1.charge_anyway(routed.cost()));
        self.0.behind.push(Arrived::Request(routed));
    }

    pub fn other(self, message: Message) {
        let charge = self.1.charge_anyway(message.cost());
        self.0.behind.push(Arrived::Other(message, charge));
    }
}

/// The working directory that a request gives its session.
pub(super) fn cwd(request: &Message) -> Option<String> {
    let text = member(request.body(), "cwd")?;
    serde_json::from_str(text).ok()
}
