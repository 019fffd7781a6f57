//! What guards and receipts cost, beside a chain without them: in pairs, as the limits are hundredths. Some wait for a
//! disk once a turn, so single turns are timed, too.

use anyhow::Result;
use serde::Serialize;

use super::beside::Cost;
use super::pairs::{Measure, Pairs, order};
use super::stats::{median, quantile};
use super::{Effort, SIZES, Watchdog};
use crate::subjects::{Family, Places, Subject};

/// The chains, each behind the one that it is compared with.
const PAIRS: [[(Family, usize); 2]; 3] = [
    [(Family::Forwarding, 1), (Family::Brake, 1)],
    [(Family::Redact, 1), (Family::TwoOfThree, 2)],
    [(Family::Forwarding, 3), (Family::Receipts, 3)],
];

/// The measures of each pair.
pub const MEASURES: [Measure; 3] = [
    Measure::Turns,
    Measure::Updates(SIZES[0]),
    Measure::Updates(SIZES[1]),
];

/// The results for one chain.
#[derive(Clone, Debug, Serialize)]
pub struct GuardResult {
    /// The chain in words.
    pub name: String,
    /// The chain that it is compared with, in words.
    pub beside: String,
    /// The chain.
    #[serde(flatten)]
    pub subject: Subject,
    /// By the [`MEASURES`], as multiples of the cost of the other chain; `None` if not measured.
    pub costs: Vec<Option<Cost>>,
    /// A turn of the chain.
    pub turn: Option<TurnTime>,
    /// A turn of the other chain.
    pub turn_beside: Option<TurnTime>,
}

/// How long a turn takes that the agent ends at once, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TurnTime {
    /// The median.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
}

/// Measures all.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<Vec<GuardResult>> {
    eprintln!("guards and receipts");
    let pairs = Pairs::new(&MEASURES, effort, watchdog);
    let mut results = Vec::new();
    for pair in PAIRS {
        let [beside, guarded] = pair.map(|(family, proxies)| Subject::new(family, proxies));
        let found = pairs.run(&[(places, beside.clone()), (places, guarded.clone())])?;
        let measured = MEASURES.iter().zip(&found[1]);
        let costs = measured.map(|(measure, found)| Some(Cost::of(*measure, found.share()?)));
        let costs = costs.collect();
        let subjects = [beside, guarded];
        let [turn_beside, turn] = turns(places, &pairs, &subjects, effort.events)?;
        let [beside, guarded] = subjects;
        results.push(GuardResult {
            name: guarded.to_string(),
            beside: beside.to_string(),
            subject: guarded,
            costs,
            turn,
            turn_beside,
        });
    }
    Ok(results)
}

/// Times so many turns of each of two chains, in turn.
fn turns(
    places: &Places,
    pairs: &Pairs,
    subjects: &[Subject; 2],
    count: usize,
) -> Result<[Option<TurnTime>; 2]> {
    let mut live = Vec::new();
    for subject in subjects {
        live.push(pairs.begin(places, subject)?);
    }
    let mut samples = [Vec::new(), Vec::new()];
    for round in 0..count {
        for at in order(live.len(), round) {
            let running = &mut live[at].running;
            pairs.watchdog.pet(&running.subject.to_string());
            let took = running.client.ping(0)?;
            samples[at].push(took.as_secs_f64() * 1e3);
        }
    }
    Ok(samples.map(|mut took| TurnTime::of(&mut took)))
}

impl TurnTime {
    /// `None` without samples.
    fn of(took: &mut [f64]) -> Option<Self> {
        Some(Self {
            p50_ms: median(took)?,
            p99_ms: quantile(took, 0.99)?,
        })
    }
}
