//! What is spent in a period, and the limits on it.
//!
//! Invariants: what was spent never shrinks within a period, and sums stop at the largest number.

use std::array;

use serde::{Deserialize, Serialize};

use crate::usage::millionths;

/// The time in which a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Turn,
    Session,
    Day,
    Project,
}

impl Period {
    pub(crate) const ALL: [Self; 4] = [Self::Turn, Self::Session, Self::Day, Self::Project];

    pub(crate) fn name(self) -> &'static str {
        ["turn", "session", "day", "project"][self as usize]
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Tokens,
    Cost,
    Calls,
    Time,
}

impl Measure {
    pub(crate) const ALL: [Self; 4] = [Self::Tokens, Self::Cost, Self::Calls, Self::Time];
}

/// Tokens, millionths of the currency, calls, and seconds.
pub(crate) type Amounts = [u64; 4];

/// What happens when a limit is reached.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnLimit {
    /// The user is notified, and the limit is raised by its own amount.
    Tell,
    /// The user decides whether the limit is raised by its own amount.
    #[default]
    Ask,
    /// The turn is stopped.
    Stop,
}

/// The limits of a period.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Limits {
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
    pub(crate) tool_calls: Option<u64>,
    pub(crate) minutes: Option<u64>,
    pub(crate) action: OnLimit,
}

impl Limits {
    /// The limit on this, which is not 0.
    pub(crate) fn of(&self, measure: Measure) -> Option<u64> {
        let limit = match measure {
            Measure::Tokens => self.tokens,
            Measure::Cost => self.cost.map(millionths),
            Measure::Calls => self.tool_calls,
            Measure::Time => self.minutes.map(|minutes| minutes.saturating_mul(60)),
        };
        limit.map(|amount| amount.max(1))
    }

    pub(crate) fn is_empty(&self) -> bool {
        Measure::ALL
            .iter()
            .all(|measure| self.of(*measure).is_none())
    }
}

/// What was spent in a period, and how often each limit was raised by its own amount.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Account {
    pub(crate) spent: Amounts,
    raises: Amounts,
}

impl Account {
    pub(crate) fn add(&mut self, more: &Amounts) {
        self.spent = array::from_fn(|place| self.spent[place].saturating_add(more[place]));
    }

    /// How much may be spent. `None` if there is no limit, or it was raised past the largest number.
    pub(crate) fn cap(&self, measure: Measure, limits: &Limits) -> Option<u64> {
        let times = self.raises[measure as usize].saturating_add(1);
        limits.of(measure)?.checked_mul(times)
    }

    /// A measure of which nothing is left.
    pub(crate) fn full(&self, limits: &Limits) -> Option<Measure> {
        self.reached(limits, |_, _| 0)
    }

    /// A measure whose limit was reached by what was counted after the fact. The last call within the limit may run.
    pub(crate) fn over(&self, limits: &Limits) -> Option<Measure> {
        self.reached(limits, |is_calls, _| is_calls)
    }

    /// A measure of which more is spent than if the limit had been raised.
    pub(crate) fn beyond(&self, limits: &Limits) -> Option<Measure> {
        self.reached(limits, |is_calls, limit| limit.saturating_add(is_calls))
    }

    /// Counts a call, unless nothing is left of a measure.
    pub(crate) fn take_call(&mut self, limits: &Limits) -> Option<Measure> {
        let full = self.full(limits);
        self.add(&[0, 0, u64::from(full.is_none()), 0]);
        full
    }

    /// Raises a limit by its own amount until something is left. Raising it again changes nothing.
    pub(crate) fn raise(&mut self, measure: Measure, limits: &Limits) {
        let raises = &mut self.raises[measure as usize];
        let amount = limits.of(measure).unwrap_or(u64::MAX);
        *raises = (*raises).max(self.spent[measure as usize] / amount);
    }

    /// A measure of which so much more than may be spent is spent. `more` gets 1 for calls, otherwise 0, and the limit.
    fn reached(&self, limits: &Limits, more: impl Fn(u64, u64) -> u64) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| {
            let is_calls = u64::from(*measure == Measure::Calls);
            let limit = limits.of(*measure).unwrap_or_default();
            let cap = self.cap(*measure, limits);
            let reached = cap.map(|cap| cap.saturating_add(more(is_calls, limit)));
            reached.is_some_and(|reached| self.spent[*measure as usize] >= reached)
        })
    }
}
