//! The messages that wait at a proxy: one queue for each direction of each session, and of messages without a session.
//! The cost of a lookup does not depend on the lengths of queues.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::routed::Routed;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Account;

/// The key of a queue: messages with the same key leave in the order of arrival.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderKey {
    toward: Peer,
    session: Option<Arc<str>>,
}

impl OrderKey {
    #[inline]
    pub fn of(routed: &Routed) -> Self {
        Self {
            toward: routed.toward,
            session: routed.session().cloned(),
        }
    }
}

/// By key. Session names are untrusted, so the hash has its own secret.
type KeyMap<T> = HashMap<OrderKey, T, foldhash::quality::RandomState>;

/// The messages in a proxy's inbox or in hand, counted by key, and followers: messages that the proxy did not subscribe
/// to, and that must not overtake those of their key.
#[derive(Debug, Default)]
pub struct Queues {
    counts: KeyMap<Count>,
    behind: KeyMap<VecDeque<Follower>>,
    /// How many of the waiting messages begin the connection, by direction.
    beginnings: [usize; 2],
}

/// How many messages of one key have entered the inbox since their queue was last empty, and how many of them the proxy
/// is done with.
#[derive(Debug, Default)]
struct Count {
    came: u64,
    done: u64,
}

#[derive(Debug)]
struct Follower {
    routed: Routed,
    /// How many messages of the key had entered the inbox before the follower.
    came: u64,
}

impl Queues {
    /// Counts a message that enters the inbox.
    #[inline]
    pub fn add(&mut self, routed: &Routed) {
        self.counts.entry(OrderKey::of(routed)).or_default().came += 1;
        self.beginnings[routed.toward as usize] += usize::from(routed.is_beginning());
    }

    /// Notes that a message leaves the inbox and is in hand. Its queue exists until the proxy is [`done`](Self::done)
    /// with it.
    #[inline]
    pub fn take(&mut self, routed: &Routed) -> OrderKey {
        self.beginnings[routed.toward as usize] -= usize::from(routed.is_beginning());
        OrderKey::of(routed)
    }

    /// Notes that the proxy is done with the first message of a queue. Returns the followers that waited only for that.
    #[inline]
    pub fn done(&mut self, key: OrderKey) -> Vec<Routed> {
        let mut free = Vec::new();
        let Entry::Occupied(mut entry) = self.counts.entry(key) else {
            return free;
        };
        let count = entry.get_mut();
        count.done += 1;
        let (came, done) = (count.came, count.done);
        if !self.behind.is_empty()
            && let Some(behind) = self.behind.get_mut(entry.key())
        {
            while let Some(follower) = behind.pop_front_if(|next| next.came <= done) {
                let routed = follower.routed;
                self.beginnings[routed.toward as usize] -= usize::from(routed.is_beginning());
                free.push(routed);
            }
            if behind.is_empty() {
                self.behind.remove(entry.key());
            }
        }
        if came == done {
            entry.remove();
        }
        free
    }

    /// Whether a message that begins the connection waits, and goes in the same direction.
    #[inline]
    pub fn has_beginning(&self, routed: &Routed) -> bool {
        self.beginnings[routed.toward as usize] > 0
    }

    /// Whether another message of the same queue must leave before this one.
    #[inline]
    pub fn holds_up(&self, routed: &Routed) -> bool {
        !self.counts.is_empty() && self.counts.contains_key(&OrderKey::of(routed))
    }

    /// Adds a follower to its queue.
    #[inline]
    pub fn follow(&mut self, routed: Routed) {
        self.beginnings[routed.toward as usize] += usize::from(routed.is_beginning());
        let key = OrderKey::of(&routed);
        let came = self.counts.get(&key).map_or(0, |count| count.came);
        let behind = self.behind.entry(key).or_default();
        behind.push_back(Follower { routed, came });
    }
}

/// Messages that a proxy is done with but that still wait: responses that wait for a held notification, and the
/// messages behind them.
#[derive(Debug)]
pub struct ParkedMessages {
    queues: KeyMap<VecDeque<Routed>>,
    account: Account,
}

impl ParkedMessages {
    /// No messages; they will be charged to this account.
    #[inline]
    pub fn new(account: Account) -> Self {
        Self {
            queues: KeyMap::default(),
            account,
        }
    }

    /// By how many bytes the messages exceed their limit.
    #[inline]
    pub fn excess(&self) -> usize {
        self.account.excess()
    }

    #[inline]
    pub fn is_too_much(&self) -> bool {
        !self.is_empty() && self.account.is_full()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    #[inline]
    pub fn insert(&mut self, mut routed: Routed) {
        routed.charge = Some(self.account.charge_anyway(routed.cost()));
        let queue = self.queues.entry(OrderKey::of(&routed)).or_default();
        let at = queue.partition_point(|earlier| earlier.arrival < routed.arrival);
        queue.insert(at, routed);
    }

    /// Whether a message of the same queue arrived before this one.
    #[inline]
    pub fn holds_up(&self, routed: &Routed) -> bool {
        let queue = self.queues.get(&OrderKey::of(routed));
        let first = queue.and_then(VecDeque::front);
        first.is_some_and(|first| first.arrival < routed.arrival)
    }

    /// Takes the messages that no longer have to wait for held ones, in order of arrival.
    #[inline]
    pub fn release<'a>(&mut self, held: impl Iterator<Item = &'a Routed>) -> Vec<Routed> {
        let mut firsts = HashMap::new();
        for notification in held.filter(|held| held.exchange.is_none()) {
            let first = firsts.entry(OrderKey::of(notification)).or_insert(u64::MAX);
            *first = notification.arrival.min(*first);
        }
        let mut free = Vec::new();
        self.queues.retain(|key, parked| {
            let first = firsts.get(key).copied().unwrap_or(u64::MAX);
            while let Some(routed) =
                parked.pop_front_if(|next| !next.is_response() || next.arrival < first)
            {
                free.push(routed);
            }
            !parked.is_empty()
        });
        free.sort_by_key(|routed| routed.arrival);
        free
    }
}
