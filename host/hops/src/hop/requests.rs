//! A proxy's own requests, and the accounts of what is kept for the proxy.

use foldhash::{HashMap, HashMapExt};

use super::Hop;
use crate::exchange::ExchangeId;
use crate::version::{Version, version_of};
use acp_chain_channel::MessageId;
use acp_chain_channel::limits::{Account, Charge, Limits};

pub(super) struct Requests {
    /// The unanswered requests.
    open: HashMap<MessageId, ExchangeId>,
    /// The account of the proxy's own requests, those of earlier instances included, and of sessions that the proxy
    /// gave to requests of others.
    kept: Account,
    /// The account of the proxy's own messages in the inboxes of proxies, and behind them.
    in_flight: Account,
}

impl Requests {
    /// No requests; the accounts are parts of `kept`.
    pub fn new(limits: &Limits, kept: &Account) -> Self {
        Self {
            open: HashMap::new(),
            kept: kept.part(limits.request_bytes),
            in_flight: kept.part(limits.in_flight),
        }
    }

    #[inline]
    pub fn has_any_of(&self, version: Version) -> bool {
        self.open.keys().any(|id| version_of(*id) == version)
    }
}

impl Hop {
    /// Whether none of the proxy's requests is open.
    #[inline]
    pub(super) fn awaits_nothing(&self) -> bool {
        self.requests.open.is_empty()
    }

    /// A charge for a request, or for a session that the proxy gives to one; `None` if there is no room.
    #[inline]
    pub fn charge(&self, cost: usize) -> Option<Charge> {
        self.requests.kept.charge(cost)
    }

    /// A charge for a message of the proxy that waits for another, and whether the limit was reached before.
    #[inline]
    pub fn charge_in_flight(&self, cost: usize) -> (Charge, bool) {
        let account = &self.requests.in_flight;
        // One message may always wait, whatever its size.
        let was_full = account.kept() > 0 && account.is_full();
        (account.charge_anyway(cost), was_full)
    }

    /// Notes a request that the proxy has opened.
    #[inline]
    pub fn note_request(&mut self, id: MessageId, number: ExchangeId) {
        self.requests.open.insert(id, number);
    }

    /// The proxy's open request with this number of its own.
    #[inline]
    pub fn open_request(&self, id: MessageId) -> Option<ExchangeId> {
        self.requests.open.get(&id).copied()
    }

    /// Notes that a request of the proxy is answered. Returns whether it was open.
    #[inline]
    pub fn note_answered(&mut self, id: MessageId) -> bool {
        self.requests.open.remove(&id).is_some()
    }

    /// Takes the open requests of one version, or of all, in the order in which they were opened.
    #[inline]
    pub fn take_requests(&mut self, of: Option<Version>) -> Vec<ExchangeId> {
        let is_meant = move |id| of.is_none_or(|version| version_of(id) == version);
        let open = &mut self.requests.open;
        let taken = open.extract_if(move |id, _| is_meant(*id));
        let mut numbers: Vec<_> = taken.map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers
    }
}
