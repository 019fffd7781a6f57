//! How a proxy ends, and how often it has failed.

use tokio::time::Instant;

use super::{Hop, Phase};
use crate::breaker::Breaker;
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Failure, Started, Starting};

pub(super) struct Failures {
    /// Why it must be ended as soon as it returns.
    ending: Option<Failure>,
    breaker: Breaker,
    restarts: u64,
    /// Whether the user knows that it broke once.
    user_knows: bool,
    /// How many messages were refused because it failed.
    refused: u64,
}

impl Failures {
    pub fn new(limits: &Limits) -> Self {
        Self {
            ending: None,
            breaker: Breaker::new(limits),
            restarts: 0,
            user_knows: false,
            refused: 0,
        }
    }

    /// A newer version takes its place, with these limits and no failures.
    pub fn begin_anew(&mut self, limits: &Limits) {
        self.breaker = Breaker::new(limits);
        self.user_knows = false;
    }
}

impl Hop {
    pub(super) fn is_ending(&self) -> bool {
        self.failures.ending.is_some()
    }

    /// It is to be ended as soon as it is not busy. Returns whether that is news.
    pub fn end_soon(&mut self, reason: &str) -> bool {
        let lives = matches!(self.phase, Phase::Idle(_) | Phase::Busy | Phase::Runs);
        let is_news = lives && !self.is_ending();
        if is_news {
            self.failures.ending = Some(Failure::new(reason));
        }
        is_news
    }

    /// Why it must be ended now that it has returned.
    #[inline]
    pub fn take_ending(&mut self) -> Option<Failure> {
        self.failures.ending.take()
    }

    /// The same for one that need not be waited for.
    pub fn take_ending_if_free(&mut self) -> Option<Failure> {
        let is_free = !self.is_busy() || self.native().is_some();
        is_free.then(|| self.take_ending()).flatten()
    }

    /// It breaks. Returns when to restart it, or `None` if it is to be given up.
    pub fn break_down(&mut self, now: Instant) -> Option<Instant> {
        if let Phase::Idle(part) = &mut self.phase {
            self.next_number = part.allot();
        }
        self.phase = Phase::Down;
        self.drop_retired();
        let restarts = self.terms.on_failure.restarts();
        restarts.then(|| self.failures.breaker.trip(now)).flatten()
    }

    /// It is started again, see [`start`](Self::start).
    pub fn restart(&mut self) -> Option<Starting> {
        self.failures.restarts += 1;
        self.start()
    }

    /// It has an instance again. What was to end the one before has nothing to do with this one.
    pub fn begin(&mut self, Started { part, registration }: Started) {
        self.phase = Phase::Idle(part);
        self.failures.ending = None;
        self.subscribe(registration.subscriptions);
    }

    /// A newer version does not start. If the old one has ended, it need not end again.
    pub fn keep_old(&mut self) {
        if !self.is_idle() {
            self.failures.ending = None;
        }
    }

    /// It is given up.
    pub fn give_up(&mut self, reason: String) {
        if self.ends_open() {
            self.subscribe(Vec::new());
        }
        self.phase = Phase::Ended(reason);
    }

    /// Whether everything passes it by once it is given up.
    pub fn ends_open(&self) -> bool {
        self.terms.on_failure.ends_open() && self.has_begun
    }

    /// The user is told that it broke. Returns whether they were before.
    pub fn note_told(&mut self) -> bool {
        std::mem::replace(&mut self.failures.user_knows, true)
    }

    /// A message is refused because it failed. Returns how many were.
    pub fn note_refused(&mut self) -> u64 {
        self.failures.refused += 1;
        self.failures.refused
    }

    pub fn refused(&self) -> u64 {
        self.failures.refused
    }

    pub fn restarts(&self) -> u64 {
        self.failures.restarts
    }
}
