//! Scheduled events.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::exchange::ExchangeId;
use super::route::HopIndex;
use super::version::Version;
use acp_chain_channel::MessageId;

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A held message is taken from its proxy.
    Expire(HopIndex, MessageId),
    /// The unfinished work of a replaced version of a proxy is taken from it.
    Retire(HopIndex, Version),
    /// A proxy is called again, as it asked under this number.
    Wake(HopIndex, MessageId),
    /// A proxy that broke is restarted.
    Restart(HopIndex),
    /// A proxy may have been idle for long.
    Sleep(HopIndex),
    /// A native proxy should have answered its first message.
    Introduction(HopIndex),
    /// The client should have given the files that proxies read, up to the request of this number.
    Reads(ExchangeId),
    /// A server should have taken the connection that this request makes.
    Connect(ExchangeId),
    /// A request no longer waits for its project.
    Lookup(ExchangeId),
}

/// The timers of one connection. It has no clock of its own.
#[derive(Debug, Default)]
pub struct Timers(BTreeSet<(Instant, Timer)>);

impl Timers {
    pub fn set(&mut self, at: Instant, timer: Timer) {
        self.0.insert((at, timer));
    }

    pub fn clear(&mut self, at: Instant, timer: Timer) {
        self.0.remove(&(at, timer));
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// An event that is due by now.
    pub fn due(&mut self, now: Instant) -> Option<Timer> {
        self.0.first().filter(|(at, _)| *at <= now)?;
        self.0.pop_first().map(|(_, timer)| timer)
    }
}
