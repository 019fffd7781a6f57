//! The throughput of a chain that exports its turns, for each behaviour of the collector.
//!
//! The difference to find is a hundredth, and two processes of one program differ by more: so the chain is one process
//! whose collector changes. The speed of a turn depends most on the processors on which its processes wake each other:
//! so client and chain share one, where all work of the exporter takes time from the chain.

use anyhow::Result;
use serde::Serialize;

use super::pairs::{Measure, PairedFigures, Pairs, ROUNDS, Share, add, order};
use super::{Effort, SIZES, Watchdog};
use crate::subjects::{Behaviour, Family, Places, Processors, RunningSubject, Subject};

/// The results for one behaviour.
#[derive(Clone, Debug, Serialize)]
pub struct ExportResult {
    /// The chain, in words.
    pub name: String,
    /// The collector's behaviour; `None` for a chain in a separate process that exports nothing.
    pub collector: Option<Behaviour>,
    /// Turns per second, one after the other, beside those with a working collector.
    pub turns: Option<Share>,
    /// Updates per second, as fast as they arrive, beside the same.
    pub updates: Option<Share>,
    /// The most memory that all its processes had at the end, in MiB.
    pub memory: Option<f64>,
}

/// The visits of a round; the others are compared with the first.
const VISITED: [Option<Behaviour>; 4] = [
    Some(Behaviour::There),
    Some(Behaviour::Slow),
    Some(Behaviour::Dead),
    None,
];

const MEASURES: [Measure; 3] = [Measure::Turns, Measure::Updates(SIZES[0]), Measure::Memory];

/// Turns before a collector's behaviour matters, as many as the exporter's queue has spans.
const UNTIL_NOTICED: usize = 2048;

/// Measures all.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<Vec<ExportResult>> {
    eprintln!("collectors");
    let _one = Processors::only(1)?;
    let pairs = Pairs::new(&MEASURES, effort, watchdog);
    let (exporting, silent) = (
        Subject::new(Family::Exported, 3),
        Subject::new(Family::Forwarding, 3),
    );
    pairs.compile(places, &exporting)?;
    let mut all: [Vec<PairedFigures>; VISITED.len()] = VISITED.map(|_| pairs.nothing());
    for start in 0..pairs.starts {
        places.collector.behave(Behaviour::There);
        let mut exporting = pairs.begin(places, &exporting)?;
        let mut silent = pairs.begin(places, &silent)?;
        let mut samples: [Vec<Vec<f64>>; VISITED.len()] = VISITED.map(|_| pairs.nothing());
        for round in 0..ROUNDS {
            for at in order(VISITED.len(), start + round) {
                let running = match VISITED[at] {
                    Some(behaviour) => {
                        change(places, behaviour, &mut exporting.running)?;
                        &mut exporting.running
                    }
                    None => &mut silent.running,
                };
                pairs.visit(running, &mut samples[at])?;
                if round + 1 == ROUNDS {
                    pairs.end(running, &mut samples[at]);
                }
            }
        }
        for (found, of) in all.iter_mut().zip(&samples) {
            add(found, of, &samples[0]);
        }
    }
    let exported = VISITED.into_iter().zip(all).map(|(collector, found)| {
        let [turns, updates, memory] = &found[..] else {
            unreachable!("there are as many as there are measures");
        };
        ExportResult {
            name: match collector {
                None => silent.to_string(),
                Some(Behaviour::There) => exporting.to_string(),
                Some(Behaviour::Slow) => format!("{exporting} to a slow collector"),
                Some(Behaviour::Dead) => format!("{exporting} to a dead collector"),
            },
            collector,
            turns: turns.share(),
            updates: updates.share(),
            memory: memory.figures.iter().copied().max_by(f64::total_cmp),
        }
    });
    Ok(exported.collect())
}

/// Changes the collector, and takes turns until the chain has noticed.
fn change(places: &Places, behaviour: Behaviour, running: &mut RunningSubject) -> Result<()> {
    places.collector.behave(behaviour);
    let mut turns = 0;
    while turns < UNTIL_NOTICED || !places.collector.is_noticed() {
        running.client.ping(0)?;
        turns += 1;
    }
    Ok(())
}
