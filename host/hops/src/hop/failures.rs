//! Failures of a proxy: pending ends, restarts, and counts.

use tokio::time::Instant;

use super::{Hop, Phase};
use crate::breaker::Breaker;
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Failure, Started, Starting};

pub(super) struct Failures {
    /// Why the proxy must be ended as soon as it returns.
    ending: Option<Failure>,
    breaker: Breaker,
    restarts: u64,
    /// Whether the user was notified that the proxy broke.
    is_user_notified: bool,
    /// How many messages were refused because the proxy failed.
    refused: u64,
}

impl Failures {
    pub fn new(limits: &Limits) -> Self {
        Self {
            ending: None,
            breaker: Breaker::new(limits),
            restarts: 0,
            is_user_notified: false,
            refused: 0,
        }
    }

    /// Forgets the failures, as a newer version with these limits takes the proxy's place.
    pub fn reset(&mut self, limits: &Limits) {
        self.breaker = Breaker::new(limits);
        self.is_user_notified = false;
    }
}

impl Hop {
    #[inline]
    pub(super) fn is_ending(&self) -> bool {
        self.failures.ending.is_some()
    }

    /// Requests the end of the proxy, as soon as it is not busy. Returns whether this is the first such request.
    pub fn end_soon(&mut self, reason: &str) -> bool {
        let lives = matches!(self.phase, Phase::Idle(_) | Phase::Busy | Phase::Runs);
        let is_first = lives && !self.is_ending();
        if is_first {
            self.failures.ending = Some(Failure::new(reason));
        }
        is_first
    }

    /// Takes the reason why the proxy must be ended, now that it has returned.
    #[inline]
    pub fn take_ending(&mut self) -> Option<Failure> {
        self.failures.ending.take()
    }

    /// Takes the reason why the proxy must be ended, unless the end must wait for a busy component.
    #[inline]
    pub fn take_ending_if_free(&mut self) -> Option<Failure> {
        let is_free = !self.is_busy() || self.native().is_some();
        is_free.then(|| self.take_ending()).flatten()
    }

    /// Marks the proxy as broken. Returns when to restart it, or `None` if it is to be given up.
    pub fn break_down(&mut self, now: Instant) -> Option<Instant> {
        if let Phase::Idle(part) = &mut self.phase {
            self.next_number = part.allot();
        }
        self.phase = Phase::Down;
        self.drop_retired();
        let restarts = self.terms.on_failure.restarts();
        restarts.then(|| self.failures.breaker.trip(now)).flatten()
    }

    /// Restarts the proxy, see [`start`](Self::start).
    pub fn restart(&mut self) -> Option<Starting> {
        self.failures.restarts += 1;
        self.start()
    }

    /// Puts in a new instance. A pending end concerned the previous instance, and is dropped.
    pub fn begin(&mut self, Started { part, registration }: Started) {
        self.phase = Phase::Idle(part);
        self.failures.ending = None;
        self.subscribe(registration.subscriptions);
    }

    /// Keeps the old version, as the newer one did not start. A pending end is dropped if the old version has ended
    /// already.
    pub fn keep_old(&mut self) {
        if !self.is_idle() {
            self.failures.ending = None;
        }
    }

    /// Gives the proxy up, for this reason.
    pub fn give_up(&mut self, reason: String) {
        if self.ends_open() {
            self.subscribe(Vec::new());
        }
        self.phase = Phase::Ended(reason);
    }

    /// Whether messages bypass the proxy once it is given up.
    pub fn ends_open(&self) -> bool {
        self.terms.on_failure.ends_open() && self.has_begun
    }

    /// Notes that the user is notified that the proxy broke. Returns whether the user was notified before.
    pub fn note_user_notified(&mut self) -> bool {
        std::mem::replace(&mut self.failures.is_user_notified, true)
    }

    /// Counts a message that is refused because the proxy failed. Returns the count.
    pub fn note_refused(&mut self) -> u64 {
        self.failures.refused += 1;
        self.failures.refused
    }

    #[inline]
    pub fn refused(&self) -> u64 {
        self.failures.refused
    }

    pub fn restarts(&self) -> u64 {
        self.failures.restarts
    }
}
