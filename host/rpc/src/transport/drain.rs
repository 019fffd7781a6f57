//! How long a connection stays open after the other end has closed its side, as it may still read.
//!
//! A script that is piped in ends long before its turns do; an editor that has exited has closed both sides. Only the
//! requests and turns of the other end count, except those that it has cancelled or stopped: proxies may exchange
//! messages forever, and an agent may never end a turn that was stopped.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How often it is checked that the output is read and an answer is missing. Otherwise the connection ends after this
/// time.
const CHECK: Duration = Duration::from_secs(2);

/// After how long without output the connection ends, even if the output is read.
const SILENCE: Duration = Duration::from_mins(10);

/// The timer of a connection whose other end has closed its side.
#[derive(Debug)]
pub struct Drain {
    /// Whether the output is still read, as far as that is known.
    is_read: fn() -> bool,
    /// Whether an answer is missing.
    is_owed: bool,
    check: Instant,
    end: Instant,
    /// The total number of bytes written, at the last call of [`wrote`](Self::wrote).
    written: u64,
}

impl Drain {
    /// A timer that starts now.
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

    /// Notes how many bytes were written in total, and whether an answer is missing.
    pub fn wrote(&mut self, written: u64, is_owed: bool) {
        self.is_owed = is_owed;
        if written != self.written {
            self.written = written;
            self.end = Instant::now() + SILENCE;
        }
    }

    /// Waits until the connection must end. Cancel safe.
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
    async fn without_a_reader_or_a_missing_answer_the_connection_ends_at_the_first_check() {
        let begun = Instant::now();
        Drain::new(|| false).over().await;
        assert_eq!(begun.elapsed(), CHECK);
        let mut drain = Drain::new(|| true);
        drain.wrote(1, false);
        drain.over().await;
        assert_eq!(begun.elapsed(), 2 * CHECK);
    }

    #[tokio::test(start_paused = true)]
    async fn output_that_is_read_keeps_the_connection_open() {
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
