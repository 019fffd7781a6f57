//! The time of a connection, and what is scheduled.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use acp_chain_channel::MessageId;
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::version::Version;

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A held message is taken from its proxy.
    Expire(HopIndex, MessageId),
    /// A replaced version of a proxy is ended.
    Retire(HopIndex, Version),
    /// A proxy's pause with this number ends.
    Wake(HopIndex, MessageId),
    /// A proxy that broke is restarted.
    Restart(HopIndex),
    /// A proxy is put to sleep, if it has been idle long enough.
    Sleep(HopIndex),
    /// A native proxy breaks, unless it has answered its first message.
    Introduction(HopIndex),
    /// The proxies' open reads up to this number are cancelled.
    Reads(ExchangeId),
    /// This request for a connection to an MCP server is cancelled.
    Connect(ExchangeId),
    /// This request no longer waits for its project.
    Lookup(ExchangeId),
    /// This prompt no longer waits for a sign of life of the agent's hooks.
    Sign(ExchangeId),
}

/// The time of a connection, and its timers. The caller reads the system's clock, so tests choose the time.
#[derive(Debug)]
pub struct Clock {
    now: Instant,
    timers: BTreeSet<(Instant, Timer)>,
    /// The time of each timer.
    times: HashMap<Timer, Instant>,
}

impl Clock {
    pub fn new(now: Instant) -> Self {
        Self {
            now,
            timers: BTreeSet::new(),
            times: HashMap::new(),
        }
    }

    /// The time of the last [`advance`](Self::advance).
    pub const fn now(&self) -> Instant {
        self.now
    }

    pub const fn advance(&mut self, now: Instant) {
        self.now = now;
    }

    /// Sets a timer. Its earlier time, if it has one, no longer counts.
    pub fn set(&mut self, at: Instant, timer: Timer) {
        self.clear(timer);
        self.times.insert(timer, at);
        self.timers.insert((at, timer));
    }

    pub fn set_after(&mut self, time: Duration, timer: Timer) {
        self.set(self.now + time, timer);
    }

    pub fn is_set(&self, timer: Timer) -> bool {
        self.times.contains_key(&timer)
    }

    pub fn clear(&mut self, timer: Timer) {
        if let Some(at) = self.times.remove(&timer) {
            self.timers.remove(&(at, timer));
        }
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Takes an event that is due.
    pub fn due(&mut self) -> Option<Timer> {
        self.timers.first().filter(|(at, _)| *at <= self.now)?;
        let (_, timer) = self.timers.pop_first()?;
        self.times.remove(&timer);
        Some(timer)
    }
}
