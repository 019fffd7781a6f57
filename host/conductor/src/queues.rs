//! What waits at a proxy, in a queue for each direction of each session, and of all that names no
//! session. Looking something up takes no longer for all that waits in other queues.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::routed::Routed;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Account;

/// By what order is kept: messages of one key leave in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderKey {
    toward: Peer,
    session: Option<Arc<str>>,
}

impl OrderKey {
    pub fn of(routed: &Routed) -> Self {
        Self {
            toward: routed.toward,
            session: routed.session().cloned(),
        }
    }
}

/// By key. The names of sessions come from outside, so the hash has a secret of its own.
type ByKey<T> = HashMap<OrderKey, T, foldhash::quality::RandomState>;

/// What waits for a proxy or is in its hands, counted by key, and what came behind that: messages that
/// the proxy did not ask for, and that may not overtake those of their key.
#[derive(Debug, Default)]
pub struct Queues {
    counts: ByKey<Count>,
    behind: ByKey<VecDeque<Follower>>,
    /// How many messages that begin the connection wait, by the way that they go.
    beginnings: [usize; 2],
}

/// How many of one key came for the proxy since something stands in its queue, and with how many of those
/// the proxy is done.
#[derive(Debug, Default)]
struct Count {
    came: u64,
    done: u64,
}

#[derive(Debug)]
struct Follower {
    routed: Routed,
    /// How many had come before it.
    came: u64,
}

impl Queues {
    /// A message waits for the proxy.
    pub fn add(&mut self, routed: &Routed) {
        self.counts.entry(OrderKey::of(routed)).or_default().came += 1;
        self.beginnings[routed.toward as usize] += usize::from(routed.is_beginning());
    }

    /// A message is taken in hand. Its queue stands until the proxy is [`done`](Self::done) with it.
    pub fn take(&mut self, routed: &Routed) -> OrderKey {
        self.beginnings[routed.toward as usize] -= usize::from(routed.is_beginning());
        OrderKey::of(routed)
    }

    /// The proxy is done with the first message of a queue. Gives what waited for nothing else.
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
                free.push(follower.routed);
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

    /// Whether what begins the connection waits, and goes the same way.
    pub fn has_beginning(&self, routed: &Routed) -> bool {
        self.beginnings[routed.toward as usize] > 0
    }

    /// Whether one of its queue must leave before this message.
    pub fn holds_up(&self, routed: &Routed) -> bool {
        !self.counts.is_empty() && self.counts.contains_key(&OrderKey::of(routed))
    }

    /// Lets a message wait behind those of its queue.
    pub fn follow(&mut self, routed: Routed) {
        let key = OrderKey::of(&routed);
        let came = self.counts.get(&key).map_or(0, |count| count.came);
        let behind = self.behind.entry(key).or_default();
        behind.push_back(Follower { routed, came });
    }
}

/// Messages that a proxy is done with and that wait still: responses for a notification that it
/// holds, and what came behind them.
#[derive(Debug)]
pub struct Parked {
    queues: ByKey<VecDeque<Routed>>,
    account: Account,
}

impl Parked {
    /// None yet; they will be kept on this account.
    pub fn new(account: Account) -> Self {
        Self {
            queues: ByKey::default(),
            account,
        }
    }

    /// What they take beyond what they may, in bytes.
    pub fn excess(&self) -> usize {
        self.account.excess()
    }

    /// Whether they take more than they may.
    pub fn is_too_much(&self) -> bool {
        !self.is_empty() && self.account.is_full()
    }

    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    pub fn insert(&mut self, mut routed: Routed) {
        routed.charge = Some(self.account.charge_anyway(routed.cost()));
        let queue = self.queues.entry(OrderKey::of(&routed)).or_default();
        let at = queue.partition_point(|earlier| earlier.arrival < routed.arrival);
        queue.insert(at, routed);
    }

    /// Whether one of its queue came before this.
    pub fn holds_up(&self, routed: &Routed) -> bool {
        let queue = self.queues.get(&OrderKey::of(routed));
        let first = queue.and_then(VecDeque::front);
        first.is_some_and(|first| first.arrival < routed.arrival)
    }

    /// Those that need wait no longer for what is held, in the order in which they came.
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
