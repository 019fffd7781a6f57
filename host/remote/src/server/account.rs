//! A user's share of the server, over all connections: open sessions, a rate limit, and room for incomplete messages.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::fair::FairTurns;
use super::limits::Limits;
use super::shares::TurnShares;

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
    /// The turns of all users.
    pub turns: Arc<FairTurns>,
    /// How many turns users and groups have.
    pub shares: Arc<TurnShares>,
    /// Bytes per second; `None` without a limit.
    pace: Option<NonZeroU64>,
    begun: Instant,
    /// The time by which everything received would have arrived at the rate, in microseconds since the account began.
    until: AtomicU64,
}

impl Account {
    /// An empty account.
    pub fn new(limits: &Limits, turns: Arc<FairTurns>, shares: Arc<TurnShares>) -> Self {
        let bounded = |limit: usize| Semaphore::new(limit.min(Semaphore::MAX_PERMITS));
        Self {
            sessions: Arc::new(bounded(limits.sessions_per_user)),
            bodies: bounded(limits.bodies_per_user),
            turns,
            shares,
            pace: limits.pace,
            begun: Instant::now(),
            until: AtomicU64::new(0),
        }
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
pub mod tests;
