//! The crash-loop breaker: decides whether and when a broken proxy is restarted.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use acp_chain_channel::limits::Limits;

/// The wait before the first restart; each further one within the window takes twice as long.
const BACKOFF: Duration = Duration::from_millis(100);

/// The longest wait before a restart.
const LONGEST: Duration = Duration::from_secs(10);

/// Counts the failures of one proxy.
#[derive(Debug)]
pub struct Breaker {
    restarts: usize,
    window: Duration,
    failures: VecDeque<Instant>,
}

impl Breaker {
    pub fn new(limits: &Limits) -> Self {
        Self {
            restarts: limits.restarts,
            window: limits.restart_window,
            failures: VecDeque::new(),
        }
    }

    /// Notes a failure. Returns when to restart the proxy, or `None` if it fails too often.
    pub fn trip(&mut self, now: Instant) -> Option<Instant> {
        let window = self.window;
        self.failures.retain(|failed| now - *failed < window);
        self.failures.push_back(now);
        let nth = self.failures.len();
        if nth > self.restarts {
            return None;
        }
        let doubled = u32::try_from(nth - 1).unwrap_or(u32::MAX).min(16);
        Some(now + (BACKOFF * (1 << doubled)).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker() -> Breaker {
        Breaker::new(&Limits {
            restarts: 3,
            restart_window: Duration::from_mins(1),
            ..Limits::default()
        })
    }

    #[test]
    fn the_waits_double_and_end() {
        let (mut breaker, now) = (breaker(), Instant::now());
        let waits = [100, 200, 400].map(|ms| Some(now + Duration::from_millis(ms)));
        assert_eq!(waits, [(); 3].map(|()| breaker.trip(now)));
        assert_eq!(breaker.trip(now), None);
    }

    #[test]
    fn failures_outside_the_window_are_forgotten() {
        let (mut breaker, mut now) = (breaker(), Instant::now());
        for _ in 0..10 {
            assert_eq!(breaker.trip(now), Some(now + BACKOFF));
            now += Duration::from_mins(1);
        }
    }
}
