//! A proxy's place in the chain: what waits for it, what it holds, and what waits behind that.

use std::collections::{HashMap, VecDeque};

use super::parcel::{ExchangeId, Parcel};
use crate::channel::{MessageId, Part, Subscription};

/// How many bytes may wait behind a notification that a proxy holds.
const PARKED: usize = 16 << 20;

/// A proxy that is ready to work.
pub struct Proxy {
    /// Its id in the manifest.
    pub name: String,
    /// What it wants to see.
    pub subscriptions: Vec<Subscription>,
    /// The proxy itself.
    pub part: Box<dyn Part>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Proxy")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What waits for a proxy.
#[derive(Debug)]
pub enum Item {
    Message(Parcel),
    /// The sender of a held request has withdrawn it.
    Cancel(MessageId),
}

pub struct Hop {
    pub name: String,
    subscriptions: Vec<Subscription>,
    /// Taken while the proxy is being called, and for good when it died.
    pub part: Option<Box<dyn Part>>,
    /// Why it died.
    pub dead: Option<String>,
    /// Waits for the proxy, in the order of arrival. Also messages that it does not want, when
    /// they may not overtake one that it does.
    pub inbox: VecDeque<Item>,
    /// Bytes in the inbox.
    pub waiting: usize,
    /// What the proxy is being called with.
    pub in_hand: Option<(MessageId, Parcel)>,
    pub held: HashMap<MessageId, Parcel>,
    /// Responses that wait for a held notification, and what came behind them.
    pub parked: VecDeque<Parcel>,
    /// Bytes of what is parked.
    parked_bytes: usize,
    /// Its own requests that have no answer yet.
    pub asked: HashMap<MessageId, ExchangeId>,
    /// Whether it is in the router's queue.
    pub queued: bool,
    arrivals: u64,
}

impl Hop {
    pub fn new(proxy: Proxy) -> Self {
        Self {
            name: proxy.name,
            subscriptions: proxy.subscriptions,
            part: Some(proxy.part),
            dead: None,
            inbox: VecDeque::new(),
            waiting: 0,
            in_hand: None,
            held: HashMap::new(),
            parked: VecDeque::new(),
            parked_bytes: 0,
            asked: HashMap::new(),
            queued: false,
            arrivals: 0,
        }
    }

    /// The subscription by which the proxy sees a message.
    pub fn subscription(&self, parcel: &Parcel) -> Option<&Subscription> {
        let (kind, sender) = (parcel.message.kind(), parcel.toward.opposite());
        self.subscriptions
            .iter()
            .find(|wanted| wanted.covers(kind, sender, &parcel.method))
    }

    pub fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    pub fn push(&mut self, item: Item) {
        if let Item::Message(parcel) = &item {
            self.waiting += parcel.message.len();
        }
        self.inbox.push_back(item);
    }

    pub fn pop(&mut self) -> Option<Item> {
        let item = self.inbox.pop_front()?;
        if let Item::Message(parcel) = &item {
            self.waiting -= parcel.message.len();
        }
        Some(item)
    }

    /// Whether something that waits for the proxy, or is in its hands, must leave before this.
    pub fn is_behind(&self, parcel: &Parcel) -> bool {
        if self.in_hand.is_none() && self.inbox.is_empty() {
            return false;
        }
        let waiting = self.inbox.iter().filter_map(|item| match item {
            Item::Message(earlier) => Some(earlier),
            Item::Cancel(_) => None,
        });
        let mut earlier = waiting.chain(self.in_hand.iter().map(|(_, parcel)| parcel));
        earlier.any(|earlier| earlier.may_concern(parcel))
    }

    /// Whether a message that is done here must still wait: a response for the held
    /// notifications of its line that came before it, and everything for such a response.
    pub fn must_wait(&self, parcel: &Parcel) -> bool {
        if self.held.is_empty() && self.parked.is_empty() {
            return false;
        }
        let before =
            |earlier: &&Parcel| earlier.arrival < parcel.arrival && earlier.shares_line(parcel);
        self.parked.iter().any(|earlier| before(&earlier))
            || parcel.is_response()
                && self
                    .held
                    .values()
                    .any(|held| held.exchange.is_none() && before(&held))
    }

    /// Lets a message wait until it may leave.
    pub fn park(&mut self, parcel: Parcel) {
        let at = self
            .parked
            .partition_point(|earlier| earlier.arrival < parcel.arrival);
        self.parked_bytes += parcel.message.len();
        self.parked.insert(at, parcel);
    }

    /// Whether more waits behind what the proxy holds than can be kept.
    pub fn is_jammed(&self) -> bool {
        self.parked_bytes > PARKED
    }

    /// The parked messages that need wait no longer, in order.
    pub fn release(&mut self) -> Vec<Parcel> {
        let mut free = Vec::new();
        for parcel in std::mem::take(&mut self.parked) {
            if self.must_wait(&parcel) {
                self.parked.push_back(parcel);
            } else {
                self.parked_bytes -= parcel.message.len();
                free.push(parcel);
            }
        }
        free
    }

    /// Everything that the proxy has or is to get, when it is to get nothing more, in order.
    pub fn give_up(&mut self) -> Vec<Parcel> {
        let mut all: Vec<_> = self.held.drain().map(|(_, parcel)| parcel).collect();
        all.extend(self.in_hand.take().map(|(_, parcel)| parcel));
        all.sort_by_key(|parcel| parcel.arrival);
        all
    }
}
