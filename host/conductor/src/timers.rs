//! What is to happen at which time.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::exchange::ExchangeId;
use super::route::HopIndex;
use super::versions::Version;
use acp_chain_channel::MessageId;

/// What is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A held message is taken from its proxy.
    Expire(HopIndex, MessageId),
    /// What a replaced version of a proxy has left is taken from it.
    Retire(HopIndex, Version),
    /// A proxy that broke is started again.
    Restart(HopIndex),
    /// A proxy may have had nothing to do for long.
    Sleep(HopIndex),
    /// A native proxy ought to have answered its first message.
    Introduction(HopIndex),
    /// A request waits no longer for its project.
    Lookup(ExchangeId),
}

/// The timers of one connection. Time is what it is told.
#[derive(Debug, Default)]
pub struct Timers(BTreeSet<(Instant, Timer)>);

impl Timers {
    pub fn set(&mut self, at: Instant, timer: Timer) {
        self.0.insert((at, timer));
    }

    pub fn clear(&mut self, at: Instant, timer: Timer) {
        self.0.remove(&(at, timer));
    }

    /// When something happens next.
    pub fn next(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// Something that has been due by now.
    pub fn due(&mut self, now: Instant) -> Option<Timer> {
        self.0.first().filter(|(at, _)| *at <= now)?;
        self.0.pop_first().map(|(_, timer)| timer)
    }
}
