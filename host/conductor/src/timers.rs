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
