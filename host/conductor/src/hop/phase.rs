//! What a proxy is doing.

use super::{Hop, Runtime};
use acp_chain_channel::{Part, Started, Starting, Tally};

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

    /// Whether it broke, and has not begun again.
    pub fn is_broken(&self) -> bool {
        matches!(self.phase, Phase::Down | Phase::Ended(_))
    }

    /// Whether it is a program that runs, or is about to begin.
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

    /// The same after a failure.
    pub fn restart(&mut self) -> Option<Starting> {
        self.failures.note_restart();
        self.start()
    }

    /// It has an instance again.
    pub fn begin(&mut self, Started { part, registration }: Started) {
        self.phase = Phase::Idle(part);
        self.failures.stay();
        self.subscribe(registration.subscriptions);
    }

    /// Its program has begun: messages for it are written to it from now on.
    pub fn runs(&mut self) {
        (self.phase, self.has_begun) = (Phase::Runs, true);
    }
}
