//! What waits at a proxy, by line: one direction of one session, or of all that names no session.
//! Looking something up takes no longer for all that waits in other lines.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::parcel::Parcel;
use crate::channel::Peer;
use crate::limits::Account;

/// Messages of one line leave in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    toward: Peer,
    session: Option<Arc<str>>,
}

impl Line {
    pub fn of(parcel: &Parcel) -> Self {
        Self {
            toward: parcel.toward,
            session: parcel.session().cloned(),
        }
    }
}

/// By line. The names of sessions come from outside, so the hash has a secret of its own.
type Lines<T> = HashMap<Line, T, foldhash::quality::RandomState>;

/// The lines of the messages that wait for a proxy or are in its hands, and what came behind them:
/// messages that the proxy did not ask for, and that may not overtake those of their line.
#[derive(Debug, Default)]
pub struct Queues {
    lines: Lines<Count>,
    behind: Lines<VecDeque<Follower>>,
    /// How many messages that begin the connection wait, by the way that they go.
    beginnings: [usize; 2],
}

/// How many of one line came for the proxy since something stands in it, and with how many of those
/// the proxy is done.
#[derive(Debug, Default)]
struct Count {
    came: u64,
    done: u64,
}

#[derive(Debug)]
struct Follower {
    parcel: Parcel,
    /// How many had come before it.
    came: u64,
}

impl Queues {
    /// A message waits for the proxy.
    pub fn add(&mut self, parcel: &Parcel) {
        self.lines.entry(Line::of(parcel)).or_default().came += 1;
        self.beginnings[parcel.toward as usize] += usize::from(parcel.is_beginning());
    }

    /// A message is taken in hand. Its line stands until the proxy is [`done`](Self::done) with it.
    pub fn take(&mut self, parcel: &Parcel) -> Line {
        self.beginnings[parcel.toward as usize] -= usize::from(parcel.is_beginning());
        Line::of(parcel)
    }

    /// The proxy is done with the first message of a line. Gives what waited for nothing else.
    pub fn done(&mut self, line: Line) -> Vec<Parcel> {
        let mut free = Vec::new();
        let Entry::Occupied(mut entry) = self.lines.entry(line) else {
            return free;
        };
        let count = entry.get_mut();
        count.done += 1;
        let (came, done) = (count.came, count.done);
        if !self.behind.is_empty()
            && let Some(behind) = self.behind.get_mut(entry.key())
        {
            while let Some(follower) = behind.pop_front_if(|next| next.came <= done) {
                free.push(follower.parcel);
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
    pub fn has_beginning(&self, parcel: &Parcel) -> bool {
        self.beginnings[parcel.toward as usize] > 0
    }

    /// Whether one of its line must leave before this message.
    pub fn holds_up(&self, parcel: &Parcel) -> bool {
        !self.lines.is_empty() && self.lines.contains_key(&Line::of(parcel))
    }

    /// Lets a message wait behind those of its line.
    pub fn follow(&mut self, parcel: Parcel) {
        let line = Line::of(&parcel);
        let came = self.lines.get(&line).map_or(0, |count| count.came);
        let behind = self.behind.entry(line).or_default();
        behind.push_back(Follower { parcel, came });
    }
}

/// Messages that a proxy is done with and that wait still: responses for a notification that it
/// holds, and what came behind them.
#[derive(Debug)]
pub struct Parked {
    lines: Lines<VecDeque<Parcel>>,
    account: Account,
}

impl Parked {
    /// None yet; they will be kept on this account.
    pub fn new(account: Account) -> Self {
        Self {
            lines: Lines::default(),
            account,
        }
    }

    /// What they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.account.kept()
    }

    /// Whether they take more than they may.
    pub fn is_too_much(&self) -> bool {
        !self.is_empty() && self.account.is_full()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn insert(&mut self, mut parcel: Parcel) {
        parcel.charge = Some(self.account.charge_anyway(parcel.cost()));
        let line = self.lines.entry(Line::of(&parcel)).or_default();
        let at = line.partition_point(|earlier| earlier.arrival < parcel.arrival);
        line.insert(at, parcel);
    }

    /// Whether one of its line came before this.
    pub fn holds_up(&self, parcel: &Parcel) -> bool {
        let line = self.lines.get(&Line::of(parcel));
        let first = line.and_then(VecDeque::front);
        first.is_some_and(|first| first.arrival < parcel.arrival)
    }

    /// Those that need wait no longer for what is held, in the order in which they came.
    pub fn release<'a>(&mut self, held: impl Iterator<Item = &'a Parcel>) -> Vec<Parcel> {
        let mut firsts = HashMap::new();
        for notification in held.filter(|held| held.exchange.is_none()) {
            let first = firsts.entry(Line::of(notification)).or_insert(u64::MAX);
            *first = notification.arrival.min(*first);
        }
        let mut free = Vec::new();
        self.lines.retain(|line, parked| {
            let first = firsts.get(line).copied().unwrap_or(u64::MAX);
            while let Some(parcel) =
                parked.pop_front_if(|next| !next.is_response() || next.arrival < first)
            {
                free.push(parcel);
            }
            !parked.is_empty()
        });
        free.sort_by_key(|parcel| parcel.arrival);
        free
    }
}
