//! The messages that wait for a proxy, the one that it is being called with, and those that wait behind it.

use std::collections::VecDeque;

use super::Hop;
use crate::queues::{OrderKey, Queues};
use crate::routed::Routed;
use crate::version::Version;
use acp_chain_channel::MessageId;

/// An item that waits for a proxy.
#[derive(Debug)]
pub enum Item {
    Message(Routed),
    /// The sender of a held request has cancelled it.
    Cancel(MessageId),
    /// A pause that the proxy requested is over.
    Wake(MessageId),
    /// The outcome of the proxy's request for a stored value. No other message waits for it.
    Outcome(Routed),
    /// A message was held for too long.
    Expired(MessageId),
}

#[derive(Default)]
pub(super) struct Inbox {
    /// In order of arrival.
    items: VecDeque<Item>,
    /// Messages that the proxy did not subscribe to, and that must not overtake those in the inbox or in hand.
    queues: Queues,
    /// Bytes in the inbox and behind it that count towards backpressure. Messages between proxies do not count: they
    /// could keep both ends from being read for as long as the proxies like. `in_flight` limits those.
    waiting: usize,
    /// The message that the proxy is being called with.
    in_hand: Option<(MessageId, Routed)>,
    /// The queue of the last message that the proxy was called with, until it is done with that message.
    key_in_hand: Option<OrderKey>,
    /// Whether the proxy is in the router's queue.
    is_queued: bool,
    arrivals: u64,
}

impl Hop {
    /// Whether no message waits for the proxy or is in hand.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        let Inbox { items, in_hand, .. } = &self.inbox;
        items.is_empty() && in_hand.is_none() && !self.inbox.is_queued
    }

    /// Whether the proxy can be called, and something waits for it.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.inbox.items.is_empty() && self.takes_messages()
    }

    /// Whether the proxy has become ready and must enter the router's queue; notes that it has.
    #[inline]
    pub fn queues_up(&mut self) -> bool {
        self.is_ready() && !std::mem::replace(&mut self.inbox.is_queued, true)
    }

    /// Notes that the proxy has left the router's queue.
    #[inline]
    pub fn leave_queue(&mut self) {
        self.inbox.is_queued = false;
    }

    #[inline]
    pub fn next_arrival(&mut self) -> u64 {
        self.inbox.arrivals += 1;
        self.inbox.arrivals
    }

    #[inline]
    pub fn push(&mut self, item: Item) {
        if let Item::Message(routed) = &item {
            self.inbox.waiting += slowing(routed);
            self.inbox.queues.add(routed);
        }
        self.inbox.items.push_back(item);
    }

    /// Queues the expiry of a held message: behind earlier expiries, before all other items. It is handled between two
    /// calls, as the proxy may be about to settle the message.
    #[inline]
    pub fn push_expired(&mut self, id: MessageId) {
        let items = &mut self.inbox.items;
        let expired = |item: &&Item| matches!(item, Item::Expired(_));
        let at = items.iter().take_while(expired).count();
        items.insert(at, Item::Expired(id));
    }

    /// Takes out the first item. A message stays the proxy's until it is [`done`](Self::done).
    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let inbox = &mut self.inbox;
        let mut item = inbox.items.pop_front()?;
        if let Item::Message(routed) = &mut item {
            routed.charge = None;
            inbox.waiting -= slowing(routed);
            inbox.key_in_hand = Some(inbox.queues.take(routed));
        }
        Some(item)
    }

    /// The messages in the inbox.
    #[inline]
    pub fn messages(&self) -> impl Iterator<Item = &Routed> {
        self.inbox.items.iter().filter_map(|item| match item {
            Item::Message(routed) => Some(routed),
            Item::Cancel(_) | Item::Wake(_) | Item::Outcome(_) | Item::Expired(_) => None,
        })
    }

    /// Whether another message of the same queue, in the inbox or in hand, must leave before this one.
    #[inline]
    pub fn is_behind(&self, routed: &Routed) -> bool {
        self.inbox.queues.holds_up(routed)
    }

    /// Queues a message that is [behind](Self::is_behind) others.
    #[inline]
    pub fn follow(&mut self, routed: Routed) {
        self.inbox.waiting += slowing(&routed);
        self.inbox.queues.follow(routed);
    }

    /// Bytes here that count towards backpressure.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.inbox.waiting
    }

    /// Notes the message that the proxy is called with.
    #[inline]
    pub fn hand(&mut self, id: MessageId, routed: Routed) {
        self.inbox.in_hand = Some((id, routed));
    }

    /// The message that the proxy is being called with, and has not decided about.
    #[inline]
    pub fn in_hand(&self) -> Option<&(MessageId, Routed)> {
        self.inbox.in_hand.as_ref()
    }

    /// Takes the message in hand, once the proxy has decided about it or never will.
    #[inline]
    pub fn take_in_hand(&mut self) -> Option<(MessageId, Routed)> {
        self.inbox.in_hand.take()
    }

    /// Takes the message in hand, if a replaced version of this number was called with it.
    #[inline]
    pub fn take_in_hand_of(&mut self, version: Version) -> Option<Routed> {
        let in_hand = &mut self.inbox.in_hand;
        let taken = in_hand.take_if(|(_, routed)| routed.seen == Some(version));
        taken.map(|(_, routed)| routed)
    }

    /// Notes that the proxy is done with the message in hand, if there was one. Returns the messages that waited only
    /// for that.
    #[inline]
    pub fn done(&mut self) -> Vec<Routed> {
        let Some(key) = self.inbox.key_in_hand.take() else {
            return Vec::new();
        };
        let free = self.inbox.queues.done(key);
        self.inbox.waiting -= free.iter().map(slowing).sum::<usize>();
        free
    }

    /// Whether the message that begins the connection is in the inbox or in hand, and goes in the same direction:
    /// nothing may overtake it, as not every client waits for the answer.
    #[inline]
    pub fn is_to_begin(&self, routed: &Routed) -> bool {
        let in_hand = self.in_hand();
        in_hand.is_some_and(|(_, first)| first.is_beginning() && first.toward == routed.toward)
            || self.inbox.queues.has_beginning(routed)
    }
}

/// How many bytes of a message count towards backpressure.
#[inline]
fn slowing(routed: &Routed) -> usize {
    if routed.labels.is_internal() {
        return 0;
    }
    routed.cost()
}
