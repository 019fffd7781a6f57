//! The component under test.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::PATIENCE;
use super::checks::Check;
use super::finding::Finding;
use super::observed::Seen;
use super::play::{Play, Stop, finding};
use super::report::Outcome;
use super::traffic::Traffic;
use crate::channel::{Failure, FailurePolicy, Registration, Source};
use crate::sandbox::Guest;
use crate::transcript::deadline::Deadline;
use crate::transcript::log::Log;

/// A component, its terms, and how much of everything is played.
pub struct UnderTest {
    /// How it is started.
    pub guest: Guest,
    /// What becomes of it when it breaks; as it says itself, if it is not said.
    pub on_failure: Option<FailurePolicy>,
    /// What the messages are made of: the same seed makes the same.
    pub seed: u64,
    /// How many messages of each method are played, and how much of everything else in proportion.
    pub cases: usize,
    count: Cell<usize>,
    until: Cell<Option<Instant>>,
}

/// What makes one play another than the others.
#[derive(Default)]
pub struct Terms {
    /// What was seen before, and is to be done: see [`Seen`].
    pub seen: Seen,
    /// What becomes of the component when it fails, if it is not what becomes of it in a run.
    pub on_failure: Option<FailurePolicy>,
}

impl UnderTest {
    /// A component under these terms.
    #[must_use]
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

    /// Its id.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.guest.name
    }

    /// Messages, the same in every check.
    pub(super) fn traffic(&self) -> Traffic {
        Traffic::new(self.seed)
    }

    /// Puts it through one check.
    pub(super) fn check(&self, check: &'static Check) -> Outcome {
        let before = self.count.get();
        self.until.set(Some(Instant::now() + PATIENCE));
        let findings = (check.run)(self);
        Outcome {
            check,
            was_run: true,
            messages: self.count.get() - before,
            findings,
        }
    }

    /// How long this check may still take.
    pub(super) fn left(&self) -> Duration {
        let until = self.until.get();
        until.map_or(PATIENCE, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    /// Starts a component alone, with nobody beside it.
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

    /// Plays something with it. An error is what kept the play from its end: that the component broke comes first.
    pub(super) fn play<T>(
        &self,
        terms: Terms,
        acts: impl AsyncFnOnce(&mut Play) -> Result<T, Stop>,
    ) -> Result<T, Finding> {
        let Terms { seen, on_failure } = terms;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build();
        let runtime = runtime.map_err(|error| Finding::failure(error.to_string()))?;
        let (_log, _guard) = Log::start();
        let left = self.left();
        let played = runtime.block_on(async {
            if left.is_zero() {
                return Err(Stop::TooLong);
            }
            let mut deadline = Deadline::after(left);
            let played = async {
                let mut play = Play::start(self, seen.clone(), on_failure).await?;
                let played = acts(&mut play).await;
                self.count.set(self.count.get() + play.count);
                played
            };
            tokio::select! {
                biased;
                played = played => played,
                () = deadline.passed() => Err(Stop::TooLong),
            }
        });
        runtime.shutdown_background();
        match played {
            Ok(played) if seen.lock().broken().is_none() => Ok(played),
            Ok(_) => Err(finding(Stop::Broke, &seen)),
            Err(stop) => Err(finding(stop, &seen)),
        }
    }
}
