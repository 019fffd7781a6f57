//! A proxy's own requests, and what is kept on its behalf.

use foldhash::{HashMap, HashMapExt};

use super::Hop;
use crate::exchange::ExchangeId;
use crate::version::{Version, version_of};
use acp_chain_channel::MessageId;
use acp_chain_channel::limits::{Account, Charge, Limits};

pub(super) struct Requests {
    /// Those without an answer.
    open: HashMap<MessageId, ExchangeId>,
    /// The account of its own requests, also of those of earlier instances, and of sessions that it gave to requests of others.
    kept: Account,
    /// The messages of its own in the inboxes of proxies, and behind them.
    in_flight: Account,
}

impl Requests {
    /// None yet; the accounts will be parts of this one.
    pub fn new(limits: &Limits, kept: &Account) -> Self {
        Self {
            open: HashMap::new(),
            kept: kept.part(limits.request_bytes),
            in_flight: kept.part(limits.in_flight),
        }
    }

    pub fn has_any_of(&self, version: Version) -> bool {
        self.open.keys().any(|id| version_of(*id) == version)
    }
}

impl Hop {
    /// Whether none of its requests is open.
    pub(super) fn awaits_nothing(&self) -> bool {
        self.requests.open.is_empty()
    }

    /// A charge for a request, or for a session that it gives to one; `None` if there is no room.
    pub fn charge(&self, cost: usize) -> Option<Charge> {
        self.requests.kept.charge(cost)
    }

    /// A charge for a message of its own that waits for a proxy, and whether too much waited before.
    pub fn charge_in_flight(&self, cost: usize) -> (Charge, bool) {
        let account = &self.requests.in_flight;
        // One message may always wait, whatever its size.
        let was_full = account.kept() > 0 && account.is_full();
        (account.charge_anyway(cost), was_full)
    }

    /// It has opened a request.
    pub fn asks(&mut self, id: MessageId, number: ExchangeId) {
        self.requests.open.insert(id, number);
    }

    /// Its open request of this number.
    pub fn asked(&self, id: MessageId) -> Option<ExchangeId> {
        self.requests.open.get(&id).copied()
    }

    /// A request of its own is answered. Returns whether it was open.
    pub fn is_answered(&mut self, id: MessageId) -> bool {
        self.requests.open.remove(&id).is_some()
    }

    /// Takes the open requests of one version, or of all.
    pub fn take_requests(&mut self, of: Option<Version>) -> impl Iterator<Item = ExchangeId> {
        let is_meant = move |id| of.is_none_or(|version| version_of(id) == version);
        let open = &mut self.requests.open;
        let taken = open.extract_if(move |id, _| is_meant(*id));
        taken.map(|(_, number)| number)
    }
}
