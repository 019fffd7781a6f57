//! What the thread and all recorders share: the room in the queue, and what has failed.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use acp_chain_rpc::{Mutex, blocking};

use crate::observer::{OnFailure, PATIENCE, PassesOver, Room};

/// How many bytes may wait to be written. One message may always wait, whatever its size.
pub const WAITING: usize = 16 << 20;

/// The state shared by the thread and all recorders.
#[derive(Debug, Default)]
pub struct SharedState {
    /// The cost of the waiting events, in bytes.
    pub waiting: AtomicUsize,
    /// Whether events of any connection did not fit.
    pub has_dropped: AtomicBool,
    /// What the user is to be told of failed sinks.
    pub failed: Mutex<Vec<String>>,
    pub has_failed: AtomicBool,
    /// How many permanent sinks have failed recently. They still count in `sink_count` until the user is notified,
    /// which happens when the next event is recorded.
    pub silent: AtomicUsize,
    /// Whether there is an observer that has not failed.
    pub is_observed: AtomicBool,
    /// Whether turns are stopped, as the observer has failed.
    pub has_halted: AtomicBool,
    /// What follows when the observer fails.
    pub on_failure: OnFailure,
    /// What the observer makes nothing of.
    pub passes_over: Option<PassesOver>,
    pub room: Room,
    /// The thread, once it runs.
    pub thread: OnceLock<Thread>,
    /// Whether somebody waits for the thread.
    pub is_awaited: AtomicBool,
}

/// Why an observer counts as failed that does not answer.
pub fn slow() -> io::Error {
    let patience = PATIENCE.as_secs();
    io::Error::other(format!("nothing could be written for {patience} s"))
}

impl SharedState {
    /// Takes room for an event; false if there is none. If an observer gets every event, waits for room, in turn.
    #[inline]
    pub fn reserve(&self, cost: usize) -> bool {
        let is_over = || !self.is_observed.load(Ordering::Relaxed);
        if is_over() {
            return self.take_or_give_back(cost);
        }
        if self.room.waiters() == 0 && self.take(cost) {
            return true;
        }
        let has_room = blocking(|| self.room.wait(|| self.take(cost), is_over));
        if !has_room {
            self.fail_observer(&slow());
        }
        has_room
    }

    /// Takes room for an event where no event waits for room; false if there is none. One event always has room.
    #[inline]
    fn take_or_give_back(&self, cost: usize) -> bool {
        let before = self.waiting.fetch_add(cost, Ordering::Relaxed);
        let has_room = before == 0 || before + cost <= WAITING;
        if !has_room {
            self.waiting.fetch_sub(cost, Ordering::Relaxed);
        }
        has_room
    }

    /// Takes room for an event, unless there is none now. One event always has room.
    #[inline]
    fn take(&self, cost: usize) -> bool {
        // In one step: others must not find room taken that is given back at once, and wait for it.
        let taken = self
            .waiting
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |before| {
                let has_room = before == 0 || before + cost <= WAITING;
                has_room.then(|| before + cost)
            });
        taken.is_ok()
    }

    /// A pause of the thread, which ends once somebody waits for it.
    pub fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_awaited.swap(false, Ordering::Acquire) {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            thread::park_timeout(rest);
        }
    }

    /// Ends the pause of the thread, or else its next one.
    pub fn end_pause(&self) {
        self.is_awaited.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub fn fail(&self, error: &io::Error) {
        self.report(format!(
            "The trace cannot be written, and ends here: {error}."
        ));
    }

    /// Notes that the observer has failed, the first time.
    pub fn fail_observer(&self, error: &io::Error) {
        if !self.is_observed.swap(false, Ordering::AcqRel) {
            return;
        }
        let fate = match self.on_failure {
            OnFailure::Halt => {
                "So turns are stopped, and no others begin until acp-chain is restarted."
            }
            OnFailure::GoOn => "What happens from now on has none.",
        };
        self.report(format!("Receipts cannot be written: {error}. {fate}"));
        let halts = self.on_failure == OnFailure::Halt;
        self.has_halted.store(halts, Ordering::Release);
        self.room.free();
    }

    fn report(&self, text: String) {
        tracing::error!("{text}");
        self.failed.lock().push(text);
        self.has_failed.store(true, Ordering::Release);
    }
}
