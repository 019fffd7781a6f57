//! The component under test.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::finding::Finding;
use super::play::Play;
use super::stop::{PATIENCE, Stop, finding};
use super::traffic::Traffic;
use crate::observed::Observations;
use crate::transcript::deadline::Deadline;
use crate::transcript::log::Log;
use crate::transcript::wire;
use acp_chain_channel::{Failure, FailurePolicy, Registration, Source};
use acp_chain_sandbox::Guest;

/// A component, its terms, and the amount of traffic.
pub struct UnderTest {
    /// The source of the component.
    pub guest: Guest,
    /// The failure policy; by default, the component's own.
    pub on_failure: Option<FailurePolicy>,
    /// The seed of the messages: the same seed makes the same messages.
    pub seed: u64,
    /// The number of messages per method. Other amounts are in proportion.
    pub cases: usize,
    count: Cell<usize>,
    until: Cell<Option<Instant>>,
}

/// The settings of one play.
#[derive(Default)]
pub struct Terms {
    /// Earlier observations, and the failures to cause: see [`Observations`].
    pub seen: Observations,
    /// The failure policy, if it differs from that of a run.
    pub on_failure: Option<FailurePolicy>,
}

impl UnderTest {
    /// A component under these terms.
    pub fn new(guest: Guest, on_failure: Option<FailurePolicy>, seed: u64, cases: usize) -> Self {
        Self {
            guest,
            on_failure,
            seed,
            cases,
            count: Cell::new(0),
            until: Cell::new(None),
        }
    }

    /// The id of the component.
    pub fn name(&self) -> &str {
        &self.guest.name
    }

    /// The messages of this seed, the same in every check.
    pub(super) fn traffic(&self) -> Traffic {
        Traffic::new(self.seed)
    }

    /// Runs a check. Returns its findings, and the number of messages sent and received.
    pub(super) fn check(&self, run: fn(&Self) -> Vec<Finding>) -> (Vec<Finding>, usize) {
        let before = self.count.get();
        self.until.set(Some(Instant::now() + PATIENCE));
        let findings = run(self);
        (findings, self.count.get() - before)
    }

    /// The remaining time of this check.
    pub(super) fn left(&self) -> Duration {
        let until = self.until.get();
        until.map_or(PATIENCE, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    /// Starts a component without a chain.
    pub(super) fn start(guest: &Guest, saved: Option<&str>) -> Result<Registration, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| Failure::new(error.to_string()))?;
        let (_log, _guard) = Log::start();
        let saved = saved.map(str::to_owned);
        let started = runtime.block_on(guest.start(1, saved));
        started.map(|started| started.registration)
    }

    /// Plays `acts` with the component. If the play stops early, the error is the finding; a failure of the component
    /// takes precedence over other reasons.
    pub(super) fn play<T>(
        &self,
        terms: Terms,
        acts: impl AsyncFnOnce(&mut Play) -> Result<T, Stop>,
    ) -> Result<T, Finding> {
        let Terms { seen, on_failure } = terms;
        let on_failure = on_failure.or(self.on_failure);
        let runtime = wire::runtime();
        let runtime = runtime.map_err(|error| Finding::failure(error.to_string()))?;
        let (_log, _guard) = Log::start();
        let left = self.left();
        let played = runtime.block_on(async {
            if left.is_zero() {
                return Err(Stop::TooLong);
            }
            let mut deadline = Deadline::after(left);
            let played = async {
                let mut play = Play::start(self.guest.clone(), seen.clone(), on_failure).await?;
                let played = acts(&mut play).await;
                self.count.set(self.count.get() + play.count);
                played
            };
            deadline.within(played).await.unwrap_or(Err(Stop::TooLong))
        });
        runtime.shutdown_background();
        match played {
            Ok(played) if seen.lock().broken().is_none() => Ok(played),
            Ok(_) => Err(finding(Stop::Broke, &seen)),
            Err(stop) => Err(finding(stop, &seen)),
        }
    }
}
