//! A user's share of the server, over all connections: open sessions, a rate limit, and room for incomplete messages.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::Limits;

/// The burst that may arrive at once, as time at the rate.
const BURST: Duration = Duration::from_secs(1);

/// An open session, or one about to open.
pub type SessionPermit = OwnedSemaphorePermit;

/// A user's account.
#[derive(Debug)]
pub struct Account {
    sessions: Arc<Semaphore>,
    /// The room for incomplete messages, in bytes.
    pub bodies: Semaphore,
    /// Bytes per second; `None` without a limit.
    pace: Option<NonZeroU64>,
    begun: Instant,
    /// The time by which everything received would have arrived at the rate, in microseconds since the account began.
    until: AtomicU64,
}

impl Account {
    /// An empty account.
    pub fn new(limits: &Limits) -> Self {
        let bounded = |limit: usize| Semaphore::new(limit.min(Semaphore::MAX_PERMITS));
        Self {
            sessions: Arc::new(bounded(limits.sessions_per_user)),
            bodies: bounded(limits.bodies_per_user),
            pace: limits.pace,
            begun: Instant::now(),
            until: AtomicU64::new(0),
        }
    }

    /// An account with this many sessions.
    #[cfg(test)]
    pub fn with_permits(sessions: usize) -> Self {
        Self::new(&Limits {
            connections: 1,
            connections_per_user: 1,
            sessions_per_user: sessions,
            bodies_per_user: usize::MAX,
            pace: NonZeroU64::new(1000),
            files: super::limits::Files {
                all: usize::MAX,
                of_chain: 1,
            },
        })
    }

    /// Room for one more session, if there is any.
    pub fn permit(&self) -> Option<SessionPermit> {
        self.sessions.clone().try_acquire_owned().ok()
    }

    /// Counts received bytes. Returns how long to pause reading.
    pub fn pause(&self, bytes: usize) -> Duration {
        let Some(pace) = self.pace else {
            return Duration::ZERO;
        };
        let takes = (bytes as u64).saturating_mul(1_000_000) / pace;
        let now = self.now();
        let until = |until: u64| until.max(now).saturating_add(takes);
        let before = self
            .until
            .update(Ordering::Relaxed, Ordering::Relaxed, until);
        let left = until(before) - now;
        Duration::from_micros(left).saturating_sub(BURST)
    }

    /// Whether no pause is due: the account could be dropped and recreated.
    pub fn is_even(&self) -> bool {
        self.until.load(Ordering::Relaxed) <= self.now()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_one_second_passes_and_more_is_delayed() {
        let account = Account::with_permits(1);
        assert!(account.is_even());
        assert_eq!(account.pause(1000), Duration::ZERO);
        // Earlier data counts, from any client of the user.
        let pause = account.pause(60_000);
        let expected = Duration::from_secs(59)..=Duration::from_mins(1);
        assert!(expected.contains(&pause), "{pause:?}");
        assert!(account.pause(0) <= pause && !account.is_even());
    }

    #[test]
    fn a_closed_session_makes_room_for_another() {
        let account = Account::with_permits(1);
        let permit = account.permit();
        assert!(permit.is_some() && account.permit().is_none());
        drop(permit);
        assert!(account.permit().is_some());
    }
}
