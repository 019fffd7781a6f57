//! A program of acp-chain beside one of an earlier commit: what a change costs, or saves.

use anyhow::Result;
use serde::Serialize;

use super::pairs::{Measure, Pairs, Share};
use super::{Effort, SIZES, Watchdog};
use crate::subjects::{Family, MANY, Places, Subject};

/// The chains that are measured.
const CHAINS: [(Family, usize); 10] = [
    (Family::Empty, 0),
    (Family::Forwarding, 1),
    (Family::Forwarding, 3),
    (Family::Forwarding, 20),
    (Family::WithoutBody, 5),
    (Family::Elsewhere, 5),
    (Family::Few, MANY),
    (Family::Sessions, 3),
    (Family::Ours, 3),
    (Family::Five, 5),
];

/// The measures of each chain.
pub const MEASURES: [Measure; 7] = [
    Measure::Start,
    Measure::Turns,
    Measure::Updates(SIZES[0]),
    Measure::Updates(SIZES[1]),
    Measure::Updates(SIZES[2]),
    Measure::LargeTurns,
    Measure::Memory,
];

/// What a chain costs, as multiples of its cost before: of time, or of memory.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The chain in words.
    pub name: String,
    /// The chain.
    #[serde(flatten)]
    pub subject: Subject,
    /// By the [`MEASURES`]; `None` if not measured.
    pub costs: Vec<Option<Cost>>,
}

/// A cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// As a multiple of the cost before.
    pub times: f64,
    /// The width of its confidence interval, relative to it.
    pub uncertainty: f64,
}

/// Measures a program in pairs with the one before.
///
/// # Errors
/// If one of them misbehaves.
pub fn run(now: &Places, before: &Places, effort: &Effort) -> Result<Vec<Comparison>> {
    let watchdog = Watchdog::start();
    let pairs = Pairs::new(&MEASURES, effort, &watchdog);
    let mut all = Vec::new();
    for (family, proxies) in CHAINS {
        let subject = Subject::new(family, proxies);
        eprintln!("{subject}");
        let found = pairs.run(&[(before, subject.clone()), (now, subject.clone())])?;
        let costs = MEASURES.iter().zip(&found[1]);
        let costs = costs.map(|(measure, found)| Some(Cost::of(*measure, found.share()?)));
        all.push(Comparison {
            name: subject.to_string(),
            subject,
            costs: costs.collect(),
        });
    }
    Ok(all)
}

impl Cost {
    /// For rates, a higher figure is a lower cost.
    pub(super) fn of(measure: Measure, share: Share) -> Self {
        let times = match measure {
            Measure::Start | Measure::Memory => share.part,
            Measure::Turns | Measure::LargeTurns | Measure::Updates(_) => 1.0 / share.part,
        };
        Self {
            times,
            uncertainty: share.uncertainty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_in_a_second_costs_less() {
        let share = Share {
            figure: 1.0,
            part: 2.0,
            uncertainty: 0.1,
        };
        assert!((Cost::of(Measure::Turns, share).times - 0.5).abs() < 1e-9);
        assert!((Cost::of(Measure::Memory, share).times - 2.0).abs() < 1e-9);
    }
}
