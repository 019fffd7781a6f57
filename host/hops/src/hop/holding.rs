//! The messages that a proxy holds, and those that wait for them.

use foldhash::{HashMap, HashMapExt};

use super::Hop;
use crate::queues::ParkedMessages;
use crate::routed::Routed;
use crate::version::Version;
use acp_chain_channel::MessageId;
use acp_chain_channel::limits::Account;

/// A message that a proxy holds.
#[derive(Debug)]
pub struct HeldMessage {
    pub routed: Routed,
    /// The version of the proxy that holds the message.
    pub version: Version,
}

impl HeldMessage {
    /// Whether a response must wait for this message.
    #[inline]
    pub(super) fn holds_up(&self, response: &Routed) -> bool {
        let held = &self.routed;
        held.exchange.is_none() && held.arrival < response.arrival && held.shares_queue(response)
    }
}

pub(super) struct Holding {
    held: HashMap<MessageId, HeldMessage>,
    /// Responses that wait for a held notification, and the messages behind them.
    parked: ParkedMessages,
}

impl Holding {
    /// No messages; those that wait behind held ones are charged to this account.
    pub fn new(behind: Account) -> Self {
        Self {
            held: HashMap::new(),
            parked: ParkedMessages::new(behind),
        }
    }
}

impl Hop {
    /// Whether the proxy holds no message, and none waits behind one.
    #[inline]
    pub(super) fn holds_nothing(&self) -> bool {
        self.holding.held.is_empty() && self.holding.parked.is_empty()
    }

    /// Lets a version hold a message.
    #[inline]
    pub fn hold(&mut self, id: MessageId, routed: Routed, version: Version) {
        let held = HeldMessage { routed, version };
        self.holding.held.insert(id, held);
    }

    #[inline]
    pub fn remove_held(&mut self, id: MessageId) -> Option<HeldMessage> {
        self.holding.held.remove(&id)
    }

    #[inline]
    pub fn held(&self) -> impl ExactSizeIterator<Item = (MessageId, &HeldMessage)> {
        self.holding.held.iter().map(|(id, held)| (*id, held))
    }

    #[inline]
    pub fn held_as(&self, id: MessageId) -> Option<&HeldMessage> {
        self.holding.held.get(&id)
    }

    /// The messages that a version holds, in order of arrival.
    #[inline]
    pub fn held_by(&self, version: Version) -> Vec<MessageId> {
        let held = self.held().filter(|(_, held)| held.version == version);
        let mut held: Vec<_> = held.map(|(id, held)| (held.routed.arrival, id)).collect();
        held.sort_unstable();
        held.into_iter().map(|(_, id)| id).collect()
    }

    /// The messages that the proxy holds, or has been called with.
    #[inline]
    pub fn undecided(&self) -> impl Iterator<Item = &Routed> {
        let held = self.held().map(|(_, held)| &held.routed);
        held.chain(self.in_hand().map(|(_, routed)| routed))
    }

    /// Whether a message that the proxy has decided about must still wait: a response waits for held notifications of
    /// its queue that arrived earlier, and later messages of the queue wait for the response.
    #[inline]
    pub fn must_wait(&self, routed: &Routed) -> bool {
        // Most proxies hold nothing; then the session need not be looked up.
        if self.holds_nothing() {
            return false;
        }
        let mut held = self.holding.held.values();
        self.holding.parked.holds_up(routed)
            || routed.is_response() && held.any(|held| held.holds_up(routed))
    }

    /// Parks a message that [must wait](Self::must_wait). Returns whether parked messages exceed their limit.
    #[inline]
    pub fn park(&mut self, routed: Routed) -> bool {
        self.holding.parked.insert(routed);
        self.holding.parked.is_too_much()
    }

    /// Whether messages wait behind held ones.
    #[inline]
    pub fn has_parked(&self) -> bool {
        !self.holding.parked.is_empty()
    }

    /// Takes the parked messages that no longer have to wait, in order of arrival.
    #[inline]
    pub fn release(&mut self) -> Vec<Routed> {
        let Holding { held, parked } = &mut self.holding;
        if parked.is_empty() {
            return Vec::new();
        }
        parked.release(held.values().map(|held| &held.routed))
    }

    /// How many bytes wait here that count towards backpressure.
    #[inline]
    pub fn backlog(&self) -> usize {
        self.waiting() + self.holding.parked.excess()
    }

    /// Takes all messages that the proxy has not decided about, in order of arrival.
    #[inline]
    pub fn take_undecided(&mut self) -> Vec<Routed> {
        let held = self.holding.held.drain();
        let mut all: Vec<_> = held.map(|(_, held)| held.routed).collect();
        all.extend(self.take_in_hand().map(|(_, routed)| routed));
        all.sort_by_key(|routed| routed.arrival);
        all
    }
}
