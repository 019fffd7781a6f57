//! What a proxy is doing, and how long a component has done nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::{Hop, Runtime};
use acp_chain_channel::{Part, Starting, Tally};

/// Whether a proxy can be called.
pub(super) enum Phase {
    /// It waits for something to do.
    Idle(Box<dyn Part>),
    /// It is being called or started, and will return.
    Busy,
    /// A running native proxy: messages for it are written to it.
    Runs,
    /// It has no instance, and nothing of it is open. A message for it wakes it up.
    Asleep,
    /// It broke, and is about to be restarted. Messages for it wait.
    Down,
    /// It broke, for this reason, and was given up.
    Ended(String),
}

/// How long a proxy is idle before it falls asleep, where there are too many instances.
const CROWDED: Duration = Duration::from_secs(1);

/// Whether a component may fall asleep.
pub enum Idle {
    /// It may.
    Now,
    /// Then, unless something happens before.
    At(Instant),
    /// It never may, or is not at work; then that is noted again when it starts.
    Never,
}

impl Hop {
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle(_))
    }

    #[inline]
    pub fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Busy)
    }

    #[inline]
    pub fn is_asleep(&self) -> bool {
        matches!(self.phase, Phase::Asleep)
    }

    /// Whether it waits for its restart.
    pub fn is_down(&self) -> bool {
        matches!(self.phase, Phase::Down)
    }

    /// Whether it is at work: a component that is called, or a program that runs or is about to begin.
    pub fn has_program(&self) -> bool {
        matches!(self.phase, Phase::Runs | Phase::Busy)
    }

    /// Whether it is a program that has begun its work, and has not ended.
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Runs)
    }

    /// Why it was given up, if it was.
    #[inline]
    pub fn given_up(&self) -> Option<&str> {
        match &self.phase {
            Phase::Ended(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the messages that wait for it can still be handled.
    #[inline]
    pub(super) fn takes_messages(&self) -> bool {
        !matches!(self.phase, Phase::Busy | Phase::Down)
    }

    /// What its instance was denied and did, if that is not being called.
    pub fn tally(&self) -> Option<Tally> {
        match &self.phase {
            Phase::Idle(part) => Some(part.tally()),
            _ => None,
        }
    }

    /// The same since the last time.
    pub fn untold(&mut self) -> Option<Tally> {
        match &mut self.phase {
            Phase::Idle(part) => Some(part.untold()),
            _ => None,
        }
    }

    /// Makes an instance, or lets a program be started, which the caller does.
    pub fn start(&mut self) -> Option<Starting> {
        self.phase = Phase::Busy;
        match &self.runtime {
            Runtime::Component(source) => Some(source.start(self.next_number, self.saved.clone())),
            Runtime::Native(_) | Runtime::Gone => None,
        }
    }

    /// Its program has begun: messages for it are written to it from now on.
    pub fn runs(&mut self) {
        (self.phase, self.has_begun) = (Phase::Runs, true);
    }

    /// It has something to do, or has been started. Returns when it may fall asleep, unless that was said before.
    #[inline]
    pub fn note_called(&mut self, now: Instant) -> Option<Instant> {
        let after = self.terms.sleep_after?;
        let is_first = self.called.replace(now).is_none();
        is_first.then(|| now + self.idle_time(after))
    }

    /// How long it may be idle, as things are now. One that was told a longer time before there were too many keeps it.
    fn idle_time(&self, after: Duration) -> Duration {
        match &self.runtime {
            Runtime::Component(source) if source.is_crowded() => after.min(CROWDED),
            _ => after,
        }
    }

    /// Whether it may fall asleep, if everything else is settled.
    pub fn idle(&mut self, now: Instant, is_all_settled: bool) -> Idle {
        let (Some(called), Some(after)) = (self.called.take(), self.terms.sleep_after) else {
            return Idle::Never;
        };
        if !self.is_idle() && !self.is_busy() {
            return Idle::Never;
        }
        let after = self.idle_time(after);
        let due = called + after;
        if due <= now && is_all_settled && self.is_at_rest() && self.has_one_version() {
            return Idle::Now;
        }
        self.called = Some(called);
        Idle::At(if due <= now { now + after } else { due })
    }

    /// It loses its instance.
    pub fn fall_asleep(&mut self) {
        if let Phase::Idle(mut part) = std::mem::replace(&mut self.phase, Phase::Asleep) {
            self.next_number = part.allot();
            tracing::debug!("the proxy `{}` sleeps; {:?}", self.name, part.tally());
        }
        if let Some(memory) = self.memory() {
            memory.store(0, Ordering::Relaxed);
        }
    }
}
