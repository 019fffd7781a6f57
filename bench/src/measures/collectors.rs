//! The throughput of chains that export their turns, for each state of the collector: in pairs, as the differences
//! are smaller than a machine's fluctuations from one minute to the next.

use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;

use super::stats::{median, number, uncertainty};
use super::{Effort, SIZES, Watchdog};
use crate::subjects::{CAN_LOOK, Collector, Family, Places, Running, Subject};

/// Prompts before anything is measured.
const WARM_UP: usize = 200;

/// Updates in a burst, which is a turn as well.
const BURST: usize = 2000;

/// The results of a chain.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// In words.
    pub name: String,
    /// Which.
    #[serde(flatten)]
    pub subject: Subject,
    /// Turns per second, one after the other.
    pub turns: Share,
    /// Updates per second, as fast as they arrive.
    pub updates: Share,
    /// The most memory that all its processes had at the end, in bytes.
    pub memory: Option<u64>,
}

/// How many there were.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Share {
    /// In a second.
    pub per_second: f64,
    /// Relative to the chain with a working collector, visited in the same round: the median of the starts.
    pub part: f64,
    /// The width of its confidence interval.
    pub uncertainty: f64,
}

/// The chains to measure, starting with the reference.
const CHAINS: [Family; 4] = [
    Family::Exported(Collector::There),
    Family::Exported(Collector::Slow),
    Family::Exported(Collector::Dead),
    Family::Forwarding,
];

/// Rounds of chains that were started together.
const ROUNDS: usize = 8;

struct Live {
    running: Running,
    turns: Vec<f64>,
    updates: Vec<f64>,
}

/// The medians of a chain each time that it was started.
#[derive(Default)]
struct Medians {
    turns: Vec<f64>,
    updates: Vec<f64>,
    turns_beside: Vec<f64>,
    updates_beside: Vec<f64>,
    memory: Option<u64>,
}

/// Visits each in every round, in another order each time. All are started anew after some rounds, as two processes
/// of one program can differ by more than what is measured.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<Vec<Exported>> {
    eprintln!("collectors");
    let mut medians = CHAINS.map(|_| Medians::default());
    for start in 0..effort.collector_starts {
        let mut live = Vec::new();
        for family in CHAINS {
            live.push(Live::begin(family, places)?);
        }
        for round in 0..ROUNDS {
            let mut order: Vec<_> = (0..live.len()).collect();
            order.rotate_left((round / 2 + start) % live.len());
            // So that each follows each other one.
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let live = &mut live[at];
                let name = live.running.subject.to_string();
                watchdog.pet(&name);
                live.visit(effort).context(name)?;
            }
        }
        for (medians, of) in medians.iter_mut().zip(&live) {
            medians.add(of, &live[0]);
        }
    }
    let found = CHAINS.into_iter().zip(medians).map(|(family, medians)| {
        let subject = Subject::new(family, 3);
        Exported {
            name: subject.to_string(),
            subject,
            turns: share(medians.turns, medians.turns_beside),
            updates: share(medians.updates, medians.updates_beside),
            memory: medians.memory,
        }
    });
    Ok(found.collect())
}

impl Medians {
    fn add(&mut self, of: &Live, beside: &Live) {
        let part = |of: &[f64], beside: &[f64]| {
            let mut parts: Vec<_> = of.iter().zip(beside).map(|(of, to)| of / to).collect();
            median(&mut parts)
        };
        self.turns.extend(median(&mut of.turns.clone()));
        self.updates.extend(median(&mut of.updates.clone()));
        self.turns_beside.extend(part(&of.turns, &beside.turns));
        self.updates_beside
            .extend(part(&of.updates, &beside.updates));
        let memory = CAN_LOOK.then(|| of.running.tree().memory());
        self.memory = self.memory.max(memory);
    }
}

impl Live {
    fn begin(family: Family, places: &Places) -> Result<Self> {
        let subject = Subject::new(family, 3);
        let mut running = subject.start(places)?;
        running.client.initialize()?;
        subject.open_sessions(places, &mut running)?;
        for _ in 0..WARM_UP {
            running.client.ping(0)?;
        }
        Ok(Self {
            running,
            turns: Vec::new(),
            updates: Vec::new(),
        })
    }

    /// Half of its turn for each.
    fn visit(&mut self, effort: &Effort) -> Result<()> {
        let half = effort.turn / 2;
        let (begin, mut count) = (Instant::now(), 0);
        while begin.elapsed() < half {
            self.running.client.ping(0)?;
            count += 1;
        }
        let per_second = number(count) / begin.elapsed().as_secs_f64();
        self.turns.push(per_second);
        let (begin, mut count) = (Instant::now(), 0);
        while begin.elapsed() < half {
            self.running.client.burst(BURST, SIZES[0])?;
            count += BURST;
        }
        let per_second = number(count) / begin.elapsed().as_secs_f64();
        self.updates.push(per_second);
        Ok(())
    }
}

fn share(mut of: Vec<f64>, mut beside: Vec<f64>) -> Share {
    Share {
        per_second: median(&mut of).unwrap_or_default(),
        part: median(&mut beside).unwrap_or_default(),
        uncertainty: uncertainty(&mut beside),
    }
}
