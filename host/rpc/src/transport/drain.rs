//! The time for what is open when the other end has closed its side, and may still read.
//!
//! A script that is piped in ends long before its turns do; an editor that has exited has closed both sides. Only the
//! requests and turns of the other end count, and none that it has withdrawn or stopped: what proxies send each other may never end, and
//! an agent may never end a turn that was stopped.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How often it is checked that the output is read, and an answer is missing. Otherwise this is the time for the rest.
const CHECK: Duration = Duration::from_secs(2);

/// How long nothing may be written, although the output is read.
const SILENCE: Duration = Duration::from_mins(10);

/// See the module.
#[derive(Debug)]
pub struct Drain {
    /// Whether the output is read, as far as can be told.
    is_read: fn() -> bool,
    /// Whether an answer is missing.
    is_owed: bool,
    check: Instant,
    end: Instant,
    /// The bytes that were written before.
    written: u64,
}

impl Drain {
    /// Begins now.
    #[must_use]
    pub fn new(is_read: fn() -> bool) -> Self {
        let now = Instant::now();
        Self {
            is_read,
            is_owed: true,
            check: now + CHECK,
            end: now + SILENCE,
            written: 0,
        }
    }

    /// So many bytes were written in all, and whether an answer is missing.
    pub fn wrote(&mut self, written: u64, is_owed: bool) {
        self.is_owed = is_owed;
        if written != self.written {
            self.written = written;
            self.end = Instant::now() + SILENCE;
        }
    }

    /// Waits until the time is over. Cancel safe.
    pub async fn over(&mut self) {
        loop {
            sleep_until(self.check.min(self.end)).await;
            if Instant::now() >= self.end || !self.is_owed || !(self.is_read)() {
                return;
            }
            self.check = Instant::now() + CHECK;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_not_read_or_not_owed_gets_a_moment() {
        let begun = Instant::now();
        Drain::new(|| false).over().await;
        assert_eq!(begun.elapsed(), CHECK);
        let mut drain = Drain::new(|| true);
        drain.wrote(1, false);
        drain.over().await;
        assert_eq!(begun.elapsed(), 2 * CHECK);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_read_may_take_as_long_as_it_goes_on() {
        let (begun, pause) = (Instant::now(), SILENCE / 2);
        let mut drain = Drain::new(|| true);
        for written in 1..=3 {
            drain.wrote(written, true);
            assert!(tokio::time::timeout(pause, drain.over()).await.is_err());
        }
        drain.wrote(3, true);
        drain.over().await;
        assert_eq!(begun.elapsed(), 2 * pause + SILENCE);
    }
}
