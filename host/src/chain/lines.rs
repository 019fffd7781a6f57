//! What waits at a proxy, by line: one direction of one session. Looking something up takes no longer
//! for all that waits in other lines.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::parcel::Parcel;
use crate::channel::Peer;

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

/// How many messages of which lines there are.
#[derive(Debug, Default)]
pub struct Census(Lines<usize>);

impl Census {
    pub fn add(&mut self, parcel: &Parcel) {
        *self.0.entry(Line::of(parcel)).or_default() += 1;
    }

    pub fn remove(&mut self, parcel: &Parcel) {
        let line = Line::of(parcel);
        if let Some(count) = self.0.get_mut(&line) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&line);
            }
        }
    }

    /// Whether one of them may concern this message (see [`Parcel::may_concern`]).
    pub fn may_concern(&self, parcel: &Parcel) -> bool {
        let Line { toward, session } = Line::of(parcel);
        let nobodys = Line {
            toward,
            session: None,
        };
        match session {
            None => self.0.keys().any(|line| line.toward == toward),
            Some(_) => {
                self.0.contains_key(&nobodys) || self.0.contains_key(&Line { toward, session })
            }
        }
    }
}

/// Messages that a proxy is done with and that wait still: responses for a notification that it
/// holds, and what came behind them.
#[derive(Debug, Default)]
pub struct Parked {
    lines: Lines<VecDeque<Parcel>>,
    bytes: usize,
}

impl Parked {
    /// What they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn insert(&mut self, parcel: Parcel) {
        self.bytes += parcel.cost();
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
        self.bytes -= free.iter().map(Parcel::cost).sum::<usize>();
        free
    }
}
