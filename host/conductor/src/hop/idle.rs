//! How long a component has had nothing to do.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::{Hop, Phase, Runtime};

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
