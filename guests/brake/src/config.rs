//! The proxy's table in the manifest. The host has checked it against the schema.

use std::time::Duration;

use serde::Deserialize;

use crate::account::{Limits, Measure, OnLimit, Period};
use crate::usage::Prices;

/// What the user may set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    turn: Limits,
    session: Limits,
    day: Limits,
    project: Limits,
    pub(crate) repeats: Repeats,
    pub(crate) prices: Option<Prices>,
    pub(crate) currency: String,
    /// How many minutes the user's clock is ahead of UTC.
    pub(crate) utc_offset: i64,
    /// Whether the agent goes on while the budgets of days and projects cannot be stored.
    pub(crate) go_on_unstored: bool,
    least_milliseconds: u64,
}

/// How often the same may happen in a turn.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Repeats {
    pub(crate) same_call: Option<u64>,
    pub(crate) same_failure: Option<u64>,
    pub(crate) action: OnLimit,
}

impl Default for Config {
    fn default() -> Self {
        let (mut turn, mut repeats) = (Limits::default(), Repeats::default());
        (turn.tool_calls, turn.minutes) = (Some(500), Some(120));
        (repeats.same_call, repeats.same_failure) = (Some(15), Some(8));
        Self {
            turn,
            session: Limits::default(),
            day: Limits::default(),
            project: Limits::default(),
            repeats,
            prices: None,
            currency: "USD".to_owned(),
            utc_offset: 0,
            go_on_unstored: false,
            least_milliseconds: 400,
        }
    }
}

impl Config {
    /// How long a person takes to answer at least.
    pub(crate) fn least_time(&self) -> Duration {
        Duration::from_millis(self.least_milliseconds)
    }

    pub(crate) fn limits(&self, period: Period) -> &Limits {
        [&self.turn, &self.session, &self.day, &self.project][period as usize]
    }

    /// Whether any period has a limit on this.
    pub(crate) fn limit_any(&self, measure: Measure) -> bool {
        let mut periods = Period::ALL.into_iter();
        periods.any(|period| self.limits(period).of(measure).is_some())
    }
}
