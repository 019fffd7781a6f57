//! The phase of a proxy, and when an idle component falls asleep.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::{Hop, Runtime};
use acp_chain_channel::{Part, Starting, Tally};

/// The phase of a proxy, by which it can be called or not.
pub(super) enum Phase {
    /// An idle component.
    Idle(Box<dyn Part>),
    /// A component that is being called or started, or a program that is starting.
    Busy,
    /// A running native proxy: messages for it are written to it.
    Runs,
    /// A component without an instance and without anything open. A message for it wakes it up.
    Asleep,
    /// A proxy that broke, and is about to be restarted. Messages for it wait.
    Down,
    /// A proxy that broke, for this reason, and was given up.
    Ended(String),
}

/// How long a proxy is idle before it falls asleep while there are too many instances.
const CROWDED: Duration = Duration::from_secs(1);

/// Whether a component may fall asleep.
pub enum Idle {
    /// It may fall asleep.
    Now,
    /// It may fall asleep at this time, unless it is called before.
    At(Instant),
    /// It may not: sleep is turned off, or the component is not at work. In the latter case, its next start sets a
    /// timer.
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

    /// Whether the proxy waits for its restart.
    #[inline]
    pub fn is_down(&self) -> bool {
        matches!(self.phase, Phase::Down)
    }

    /// Whether the proxy is at work: a component that is called, or a program that runs or is starting.
    #[inline]
    pub fn has_program(&self) -> bool {
        matches!(self.phase, Phase::Runs | Phase::Busy)
    }

    /// Whether this is a program that has begun its work and has not ended.
    #[inline]
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Runs)
    }

    /// Why the proxy was given up, if it was.
    #[inline]
    pub fn given_up(&self) -> Option<&str> {
        match &self.phase {
            Phase::Ended(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the messages that wait for the proxy can be handled now.
    #[inline]
    pub(super) fn takes_messages(&self) -> bool {
        !matches!(self.phase, Phase::Busy | Phase::Down)
    }

    /// The counts of the instance, unless it is being called.
    #[inline]
    pub fn tally(&self) -> Option<Tally> {
        match &self.phase {
            Phase::Idle(part) => Some(part.tally()),
            _ => None,
        }
    }

    /// The increase of these counts since the last report, unless the instance is being called.
    #[inline]
    pub fn untold(&mut self) -> Option<Tally> {
        match &mut self.phase {
            Phase::Idle(part) => Some(part.untold()),
            _ => None,
        }
    }

    /// Starts an instance of a component. For a native proxy, the caller starts the program.
    #[inline]
    pub fn start(&mut self) -> Option<Starting> {
        self.phase = Phase::Busy;
        match &self.runtime {
            Runtime::Component(source) => Some(source.start(self.next_number, self.saved.clone())),
            Runtime::Native(_) | Runtime::Vacant => None,
        }
    }

    /// Notes that the program has begun: from now on, messages are written to it.
    #[inline]
    pub fn runs(&mut self) {
        (self.phase, self.has_begun) = (Phase::Runs, true);
    }

    /// Notes a call or a start. Returns when the proxy may fall asleep, unless a timer for that is set already.
    #[inline]
    pub fn note_called(&mut self, now: Instant) -> Option<Instant> {
        let after = self.terms.sleep_after?;
        let is_first = self.called.replace(now).is_none();
        is_first.then(|| now + self.idle_time(after))
    }

    /// How long the proxy may be idle, depending on how many instances there are now. A timer that is set already is
    /// not changed.
    fn idle_time(&self, after: Duration) -> Duration {
        match &self.runtime {
            Runtime::Component(source) if source.is_crowded() => after.min(CROWDED),
            _ => after,
        }
    }

    /// Whether the proxy may fall asleep now or later. `is_all_settled` tells whether nothing is open elsewhere.
    #[inline]
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

    /// Drops the instance.
    pub fn fall_asleep(&mut self) {
        if let Phase::Idle(mut part) = std::mem::replace(&mut self.phase, Phase::Asleep) {
            self.next_number = part.allot();
            tracing::debug!("the proxy `{}` sleeps; {}", self.name, part.tally());
        }
        if let Some(memory) = self.memory() {
            memory.store(0, Ordering::Relaxed);
        }
    }
}
