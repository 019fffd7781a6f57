//! The throughput of chains that export their turns, for each state of the collector.

use anyhow::Result;
use serde::Serialize;

use super::pairs::{Measure, Pairs, Share};
use super::{Effort, SIZES, Watchdog};
use crate::subjects::{Collector, Family, Places, Subject};

/// The results of a chain.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// In words.
    pub name: String,
    /// Which.
    #[serde(flatten)]
    pub subject: Subject,
    /// Turns per second, one after the other, beside those with a working collector.
    pub turns: Option<Share>,
    /// Updates per second, as fast as they arrive, beside the same.
    pub updates: Option<Share>,
    /// The most memory that all its processes had at the end, in MiB.
    pub memory: Option<f64>,
}

/// The chains to measure, starting with the one that the others are held against.
const CHAINS: [Family; 4] = [
    Family::Exported(Collector::There),
    Family::Exported(Collector::Slow),
    Family::Exported(Collector::Dead),
    Family::Forwarding,
];

const MEASURES: [Measure; 3] = [Measure::Turns, Measure::Updates(SIZES[0]), Measure::Memory];

/// Measures them beside each other.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<Vec<Exported>> {
    eprintln!("collectors");
    let chains = CHAINS.map(|family| (places, Subject::new(family, 3)));
    let pairs = Pairs {
        measures: &MEASURES,
        starts: effort.paired_starts,
        turn: effort.turn,
        watchdog,
    };
    let found = pairs.run(&chains)?;
    let exported = chains.into_iter().zip(found).map(|((_, subject), found)| {
        let [turns, updates, memory] = &found[..] else {
            unreachable!("there are as many as there are measures");
        };
        Exported {
            name: subject.to_string(),
            subject,
            turns: turns.share(),
            updates: updates.share(),
            memory: memory.figures.iter().copied().max_by(f64::total_cmp),
        }
    });
    Ok(exported.collect())
}
