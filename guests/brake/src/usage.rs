//! What agents report of what they use, and how much of it is new.
//!
//! Invariant: no report makes anything smaller. Numbers that are negative or not numbers are ignored.

use std::{array, mem};

use acp_chain_proxy::{Head, Json, read};
use serde::{Deserialize, Serialize};

use crate::account::Amounts;

/// After so many reports in a row in which no number is smaller than in the one before, they are taken for sums over
/// the session.
const SUMS: u32 = 4;

/// Of a message of at most this size, in bytes, a report is read at once, and not number by number.
const SMALL: u64 = 16 * 1024;

/// The kinds of tokens in a report, in the order of [`Tokens`] (RFD end-turn-token-usage).
const KINDS: [&str; 6] = [
    "total",
    "input",
    "output",
    "thought",
    "cachedRead",
    "cachedWrite",
];

/// Where reports are, with the ends of the names of their kinds. Gemini CLI reports in `_meta`.
const REPORTS: [(&str, &str); 2] = [
    ("/usage", "Tokens"),
    ("/_meta/quota/token_count", "_tokens"),
];

/// The tokens of a report.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Tokens([u64; 6]);

impl Tokens {
    /// Reads what the end of a turn reports, in the part of the message at `at`.
    pub(crate) fn read(head: &Head, at: &str) -> Option<Self> {
        let mut reports = REPORTS.into_iter();
        if head.size <= SMALL {
            // One call of the host, as many answers report nothing.
            let part = read(head.id, at).ok().flatten()?;
            return reports.find_map(|(place, end)| {
                let report: Json = part.at(place)?;
                Self::of(end, |name| amount(&report.at(name)?))
            });
        }
        reports.find_map(|(place, end)| {
            Self::of(end, |name| number(head, &format!("{at}{place}{name}")))
        })
    }

    /// The tokens of a report whose names have this end. `find` returns the number at a place in it.
    fn of(end: &str, find: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        let numbers = KINDS.map(|kind| find(&format!("/{kind}{end}")));
        let is_report = numbers.iter().any(Option::is_some);
        is_report.then(|| Self(numbers.map(|number| number.map_or(0, rounded))))
    }

    /// All tokens. An agent that reports no total reports kinds that do not overlap.
    fn total(&self) -> u64 {
        let [total, input, output, ..] = self.0;
        if total == 0 {
            return self.0.into_iter().fold(0, u64::saturating_add);
        }
        total.max(input.saturating_add(output))
    }

    fn is_at_least(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| *own >= other)
    }

    fn with(&self, other: &Self, change: fn(u64, u64) -> u64) -> Self {
        Self(array::from_fn(|kind| change(self.0[kind], other.0[kind])))
    }
}

/// The user's prices for a million tokens. Tokens of the cache cost as much as those of the input, unless they have a
/// price.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Prices {
    input: f64,
    output: f64,
    cached_read: Option<f64>,
    cached_write: Option<f64>,
}

impl Prices {
    /// The cost of these tokens, in millionths. Thoughts cost as much as the output, unless they are in it.
    fn of(&self, tokens: &Tokens) -> u64 {
        let [total, input, output, thoughts, read, write] = tokens.0;
        let beside = total.saturating_sub(input.saturating_add(output));
        let written = output.saturating_add(thoughts.min(beside));
        let cached = [self.cached_read, self.cached_write].map(|price| price.unwrap_or(self.input));
        let prices = [self.input, self.output, cached[0], cached[1]].map(millionths);
        let amounts = [input, written, read, write].into_iter();
        let costs = amounts
            .zip(prices)
            .map(|(tokens, price)| tokens.saturating_mul(price));
        costs.fold(0, u64::saturating_add) / 1_000_000
    }
}

/// The tokens of a turn, and the cost of the session so far in millionths.
pub(crate) type Report = (Option<Tokens>, Option<u64>);

/// What was counted of the reports about a session.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Usage {
    last: Tokens,
    /// How many reports in a row have only grown.
    grown: u32,
    /// What was not counted of reports that were taken for sums.
    left_out: Tokens,
    /// Whether a report has shrunk, which a sum does not.
    is_by_turn: bool,
    /// The largest cost that was reported since the agent counts from the start.
    highest: u64,
    /// All cost by the agent's reports, and by the user's prices. The larger one counts.
    reported: u64,
    priced: u64,
}

impl Usage {
    /// What a report adds. Cost that is reported before the first prompt is that of the session's history.
    pub(crate) fn add(&mut self, report: Report, prices: Option<&Prices>, is_old: bool) -> Amounts {
        let (tokens, cost) = report;
        let before = self.reported.max(self.priced);
        let more_cost = cost.map_or(0, |amount| self.cost(amount));
        if !is_old {
            self.reported = self.reported.saturating_add(more_cost);
        }
        let new = tokens.map_or_else(Tokens::default, |tokens| self.tokens(tokens));
        let price = prices.map_or(0, |prices| prices.of(&new));
        self.priced = self.priced.saturating_add(price);
        [new.total(), self.reported.max(self.priced) - before, 0, 0]
    }

    /// How much a cost of the session so far adds. An agent that reports less than half of what it reported before
    /// counts from the start again. So at least half of what was spent is counted, and no small correction counts all
    /// of the session again.
    fn cost(&mut self, amount: u64) -> u64 {
        let before = self.highest;
        if amount > 0 && amount < before / 2 {
            self.highest = amount;
            return amount;
        }
        self.highest = before.max(amount);
        self.highest - before
    }

    /// The new tokens of a report.
    fn tokens(&mut self, report: Tokens) -> Tokens {
        let last = mem::replace(&mut self.last, report);
        if self.is_by_turn {
            return report;
        }
        if !report.is_at_least(&last) {
            self.is_by_turn = true;
            return report.with(&self.left_out, u64::saturating_add);
        }
        self.grown = self.grown.saturating_add(1);
        if self.grown < SUMS {
            return report;
        }
        self.left_out = self.left_out.with(&last, u64::saturating_add);
        report.with(&last, u64::saturating_sub)
    }
}

/// The cost of the session so far in an update, in millionths.
pub(crate) fn cost(head: &Head) -> Option<u64> {
    number(head, "/update/cost/amount").map(millionths)
}

fn number(head: &Head, pointer: &str) -> Option<f64> {
    amount(&head.read(pointer)?)
}

/// A number that is not negative. One that is too large for any type is infinite.
fn amount(text: &Json) -> Option<f64> {
    let number = text.to_string().parse::<f64>();
    number.ok().filter(|number| *number >= 0.0)
}

/// An amount of money in millionths.
pub(crate) fn millionths(amount: f64) -> u64 {
    rounded(amount * 1e6)
}

/// The nearest whole number, from 0 to the largest.
fn rounded(number: f64) -> u64 {
    let digits = format!("{:.0}", number.abs());
    digits.parse().unwrap_or(u64::MAX)
}
