//! How long the events of an agent's hooks take, beside processes that reach no host. The agent starts one process for
//! each prompt, all kinds in turn, and times it.

use anyhow::{Context, Result};
use serde::Serialize;

use super::pairs::order;
use super::stats::{median, quantile};
use super::{Effort, Watchdog};
use crate::hooks::{HookProgram, STARTS};
use crate::subjects::{Family, Places, Subject};

/// Rounds before anything is measured.
const WARM_UP: usize = 20;

/// The results for one kind of process.
#[derive(Clone, Debug, Serialize)]
pub struct HookResult {
    /// The process in words.
    pub name: &'static str,
    /// What is started.
    pub program: HookProgram,
    /// The number of samples.
    pub samples: usize,
    /// The median in milliseconds, from the start to the end.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
}

/// Measures all.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<Vec<HookResult>> {
    eprintln!("hooks");
    let mut chains = Vec::new();
    for family in [Family::Calls, Family::Results] {
        let subject = Subject::new(family, 1);
        watchdog.pet(&subject.to_string());
        chains.push(subject.open(places)?.0);
    }
    let mut samples: Vec<Vec<f64>> = STARTS.iter().map(|_| Vec::new()).collect();
    for round in 0..WARM_UP + effort.events {
        for place in order(STARTS.len(), round) {
            let (name, _, event) = STARTS[place];
            watchdog.pet(name);
            let mut all = chains.iter_mut();
            let found = all.find(|chain| chain.subject.family == event.chain);
            let chain = found.context("no chain has this guard")?;
            let took = chain.client.hook(place).context(name)?;
            samples[place].extend((round >= WARM_UP).then_some(took));
        }
    }
    let all = STARTS.iter().zip(&mut samples);
    let results = all.filter_map(|(&(name, program, _), took)| {
        Some(HookResult {
            name,
            program,
            samples: took.len(),
            p50_ms: median(took)?,
            p99_ms: quantile(took, 0.99)?,
        })
    });
    Ok(results.collect())
}
