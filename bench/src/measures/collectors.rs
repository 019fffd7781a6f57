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
    /// The memory of all its processes at the end, in bytes.
    pub memory: Option<u64>,
}

/// How many there were.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Share {
    /// In a second.
    pub per_second: f64,
    /// Relative to the chain with a working collector: the median of the rounds.
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

struct Live {
    running: Running,
    turns: Vec<f64>,
    updates: Vec<f64>,
}

/// Visits each in every round, in another order each time.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<Vec<Exported>> {
    eprintln!("collectors");
    let mut live = Vec::new();
    for family in CHAINS {
        let subject = Subject::new(family, 3);
        let mut running = subject.start(places)?;
        running.client.initialize()?;
        subject.open_sessions(places, &mut running)?;
        for _ in 0..WARM_UP {
            running.client.ping(0)?;
        }
        live.push(Live {
            running,
            turns: Vec::new(),
            updates: Vec::new(),
        });
    }
    for round in 0..effort.collector_rounds {
        for at in 0..live.len() {
            let count = live.len();
            let live = &mut live[(at + round) % count];
            let name = live.running.subject.to_string();
            watchdog.pet(&name);
            live.visit(effort).context(name)?;
        }
    }
    let first = &live[0];
    let found = live.iter().map(|live| Exported {
        name: live.running.subject.to_string(),
        subject: live.running.subject.clone(),
        turns: share(&live.turns, &first.turns),
        updates: share(&live.updates, &first.updates),
        memory: CAN_LOOK.then(|| live.running.tree().memory()),
    });
    Ok(found.collect())
}

impl Live {
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

fn share(of: &[f64], beside: &[f64]) -> Share {
    let mut parts: Vec<_> = of.iter().zip(beside).map(|(of, to)| of / to).collect();
    Share {
        per_second: median(&mut of.to_vec()).unwrap_or_default(),
        part: median(&mut parts).unwrap_or_default(),
        uncertainty: uncertainty(&mut parts),
    }
}
