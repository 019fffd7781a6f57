//! What gets every event, none left out, because somebody must be able to rely on that later.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use acp_chain_rpc::{Message, Mutex};
use acp_chain_trace::{Decision, Line};

use crate::Event;

/// How long the observer may take nothing while a message waits for it, or not say that all lasts, before it counts as
/// failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Gets all events of all connections of a process, in their order, but for what it passes over, and how often a proxy's
/// calls were denied. One thread calls it. If too many events wait for it, messages wait, too. After an error, it gets nothing more.
pub trait Observer: Send {
    /// Whether it makes nothing of a message with this method that crosses from one part to another, or, with a
    /// decision, of a proxy's decision about the message. Without another observer, such events are not made: most
    /// messages of a turn are parts of answers.
    fn passes_over(_method: &str, _message: &Message, _decision: Option<Decision>) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// A connection begins, with its heading, and a description of its chain, as JSON.
    ///
    /// # Errors
    ///
    /// If no more events can be taken.
    fn began(&mut self, heading: &Line, chain: Option<&str>) -> io::Result<()>;

    /// Something happened on a connection.
    ///
    /// # Errors
    ///
    /// As for [`began`](Self::began).
    fn happened(&mut self, connection: &str, time: SystemTime, event: &Event) -> io::Result<()>;

    /// A connection has ended.
    ///
    /// # Errors
    ///
    /// As for [`began`](Self::began).
    fn ended(&mut self, connection: &str, time: SystemTime) -> io::Result<()>;

    /// Waits until everything so far survives the end of the system.
    ///
    /// # Errors
    ///
    /// As for [`began`](Self::began).
    fn settle(&mut self) -> io::Result<()>;
}

/// [`Observer::passes_over`] of an observer.
pub(crate) type PassesOver = fn(&str, &Message, Option<Decision>) -> bool;

/// What follows when an observer fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Turns are stopped, and no others begin.
    #[default]
    Halt,
    /// Everything goes on without it, and the user is notified.
    GoOn,
}

/// Those who wait for room in the queue, in turn: small events do not pass a large one, which would wait for ever.
#[derive(Debug, Default)]
pub(crate) struct Room {
    line: Mutex<WaitingLine>,
    freed: Condvar,
    /// How many wait.
    waiters: AtomicUsize,
}

/// Who waits, by numbers in the order of their arrival.
#[derive(Debug, Default)]
struct WaitingLine {
    /// The number of whoever comes next.
    next: u64,
    /// The number of whoever is first. Once somebody has left without room, nobody comes any more.
    first: u64,
    /// How often there was more room.
    freed: u64,
}

impl Room {
    /// How many wait.
    #[inline]
    pub fn waiters(&self) -> usize {
        self.waiters.load(Ordering::Relaxed)
    }

    /// Waits in turn until `reserve` takes room, until it `is_over`, or until there was no more room for
    /// [`PATIENCE`]. Returns whether there is room.
    pub fn wait(&self, reserve: impl Fn() -> bool, is_over: impl Fn() -> bool) -> bool {
        let mut line = self.line.lock();
        let number = line.next;
        line.next += 1;
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let (mut since, mut freed) = (Instant::now(), line.freed);
        let has_room = loop {
            if is_over() {
                break false;
            }
            if line.first == number && reserve() {
                line.first += 1;
                break true;
            }
            if line.freed != freed {
                (since, freed) = (Instant::now(), line.freed);
            }
            let Some(rest) = PATIENCE.checked_sub(since.elapsed()) else {
                break false;
            };
            let waited = self.freed.wait_timeout(line, rest);
            (line, _) = waited.unwrap_or_else(PoisonError::into_inner);
        };
        drop(line);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        // The next one may have room, too.
        self.freed.notify_all();
        has_room
    }

    /// Says that there is more room, or that it is over.
    pub fn free(&self) {
        // Whoever has found none either has not locked yet, and will find it, or waits already.
        self.line.lock().freed += 1;
        self.freed.notify_all();
    }
}
