//! Subjects compared with the first of them, in pairs, as the differences are smaller than a machine's fluctuations
//! from one minute to the next. All are restarted several times, as two processes of one program can differ by more
//! than what is measured.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use super::stats::{median, mib, number, uncertainty};
use super::{Effort, LARGE, Watchdog};
use crate::client::Client;
use crate::subjects::{CAN_LOOK, Places, RunningSubject, Subject};

/// How many updates a burst has, which is one turn: so many that what begins and ends a turn, such as a wait for the
/// disk, is a small part of it. Turns are measured by themselves.
const BURST: usize = 10_000;

/// The most that a burst has, in bytes; at least one update.
const LARGEST_BURST: usize = 100_000_000;

/// Rounds of subjects that were started together.
pub const ROUNDS: usize = 8;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Milliseconds from the start to the answer to `initialize`.
    Start,
    /// Turns per second, one after the other.
    Turns,
    /// Turns with prompts of 8 MiB per second.
    LargeTurns,
    /// Updates of this size per second, as fast as they arrive.
    Updates(usize),
    /// MiB of all processes at the end.
    Memory,
}

/// The figures of one subject, and those relative to the first subject: one for each time that all were started.
#[derive(Debug, Default)]
pub struct PairedFigures {
    /// The medians of the rounds.
    pub figures: Vec<f64>,
    parts: Vec<f64>,
}

/// The result for one subject.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Share {
    /// The figure: the median of the starts.
    pub figure: f64,
    /// Relative to the first subject, visited in the same round: the median of the starts.
    pub part: f64,
    /// The width of its confidence interval.
    pub uncertainty: f64,
}

impl PairedFigures {
    /// `None` if it was not measured.
    #[must_use]
    pub fn share(&self) -> Option<Share> {
        let mut parts = self.parts.clone();
        Some(Share {
            figure: median(&mut self.figures.clone())?,
            part: median(&mut parts)?,
            uncertainty: uncertainty(&mut parts),
        })
    }
}

impl Measure {
    /// Whether it is measured in every round, rather than once for each start.
    fn is_repeated(self) -> bool {
        !matches!(self, Self::Start | Self::Memory)
    }

    /// The rate per second, measured for about this time.
    fn rate<R: Read, W: Write>(self, client: &mut Client<R, W>, time: Duration) -> Result<f64> {
        let (begin, mut count) = (Instant::now(), 0);
        while count == 0 || begin.elapsed() < time {
            count += match self {
                Self::Updates(size) => {
                    let burst = (LARGEST_BURST / size).clamp(1, BURST);
                    client.burst(burst, size)?;
                    burst
                }
                Self::LargeTurns => client.ping(LARGE).map(|_| 1)?,
                _ => client.ping(0).map(|_| 1)?,
            };
        }
        Ok(number(count) / begin.elapsed().as_secs_f64())
    }
}

/// What is measured in pairs, and for how long.
pub struct Pairs<'p> {
    measures: &'p [Measure],
    /// How often all are started.
    pub starts: usize,
    /// How long a visit takes.
    turn: Duration,
    pub watchdog: &'p Watchdog,
}

impl<'p> Pairs<'p> {
    pub fn new(measures: &'p [Measure], effort: &Effort, watchdog: &'p Watchdog) -> Self {
        Self {
            measures,
            starts: effort.paired_starts,
            turn: effort.turn,
            watchdog,
        }
    }

    /// Visits each subject in every round, in another order each time. The results are by subject and measure.
    pub fn run(&self, subjects: &[(&Places, Subject)]) -> Result<Vec<Vec<PairedFigures>>> {
        let mut all: Vec<Vec<PairedFigures>> = subjects.iter().map(|_| self.nothing()).collect();
        for (places, subject) in subjects {
            self.compile(places, subject)?;
        }
        for start in 0..self.starts {
            let mut live = Vec::new();
            for at in order(subjects.len(), start) {
                let (places, subject) = &subjects[at];
                live.push((at, self.begin(places, subject)?));
            }
            live.sort_by_key(|(at, _)| *at);
            let mut live: Vec<_> = live.into_iter().map(|(_, live)| live).collect();
            for round in 0..ROUNDS {
                for at in order(live.len(), start + round) {
                    let LiveSubject { running, samples } = &mut live[at];
                    self.visit(running, samples)?;
                }
            }
            for live in &mut live {
                self.end(&mut live.running, &mut live.samples);
            }
            for (found, of) in all.iter_mut().zip(&live) {
                add(found, &of.samples, &live[0].samples);
            }
        }
        Ok(all)
    }

    /// An empty value for each measure.
    pub fn nothing<T: Default>(&self) -> Vec<T> {
        self.measures.iter().map(|_| T::default()).collect()
    }

    /// The first start of a subject compiles what is not in the cache.
    pub fn compile(&self, places: &Places, subject: &Subject) -> Result<()> {
        self.watchdog.pet(&subject.to_string());
        subject.start(places)?.client.initialize()
    }

    /// Starts a subject, and warms it up.
    pub fn begin(&self, places: &Places, subject: &Subject) -> Result<LiveSubject> {
        self.watchdog.pet(&subject.to_string());
        let (running, start) = subject.warm(places)?;
        let first = |measure: &_| Vec::from_iter((*measure == Measure::Start).then_some(start));
        let samples = self.measures.iter().map(first).collect();
        Ok(LiveSubject { running, samples })
    }

    /// Spends an equal part of the subject's turn on each measure.
    pub fn visit(&self, running: &mut RunningSubject, samples: &mut [Vec<f64>]) -> Result<()> {
        let name = running.subject.to_string();
        self.watchdog.pet(&name);
        let repeated = self.measures.iter().filter(|of| of.is_repeated()).count();
        let part = self.turn / u32::try_from(repeated)?;
        for (measure, samples) in self.measures.iter().zip(samples) {
            if measure.is_repeated() {
                let rate = measure.rate(&mut running.client, part);
                samples.push(rate.with_context(|| name.clone())?);
            }
        }
        Ok(())
    }

    /// Measures the memory, which is done at the end.
    pub fn end(&self, running: &mut RunningSubject, samples: &mut [Vec<f64>]) {
        for (measure, samples) in self.measures.iter().zip(samples) {
            if *measure == Measure::Memory && CAN_LOOK {
                samples.push(mib(running.tree().memory()));
            }
        }
    }
}

/// A running subject, and its samples of each measure.
#[derive(Debug)]
pub struct LiveSubject {
    pub running: RunningSubject,
    pub samples: Vec<Vec<f64>>,
}

impl PairedFigures {
    fn add(&mut self, of: &[f64], first: &[f64]) {
        let mut parts: Vec<_> = of.iter().zip(first).map(|(of, to)| of / to).collect();
        self.figures.extend(median(&mut of.to_vec()));
        self.parts.extend(median(&mut parts));
    }
}

/// Adds the samples of a start to what was found, in relation to those of the first.
pub fn add(found: &mut [PairedFigures], samples: &[Vec<f64>], first: &[Vec<f64>]) {
    for (found, (of, first)) in found.iter_mut().zip(samples.iter().zip(first)) {
        found.add(of, first);
    }
}

/// The order of a round, so that over all rounds each follows both of its neighbours.
pub fn order(count: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    order.rotate_left((round / 2) % count);
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_follows_each_other_one() {
        for count in 2..5 {
            let follow: BTreeSet<_> = (0..2 * count)
                .flat_map(|round| {
                    let order = order(count, round);
                    let pairs: Vec<_> = order.windows(2).map(|two| (two[0], two[1])).collect();
                    pairs
                })
                .collect();
            // By their places, in a circle.
            for at in 0..count {
                assert!(follow.contains(&(at, (at + 1) % count)));
                assert!(follow.contains(&((at + 1) % count, at)));
            }
        }
    }

    #[test]
    fn parts_are_those_of_the_same_round() {
        let mut found = PairedFigures::default();
        found.add(&[1.0, 20.0, 300.0], &[2.0, 40.0, 600.0]);
        found.add(&[1.0, 20.0, 300.0], &[2.0, 40.0, 600.0]);
        let share = found.share().unwrap();
        assert!((share.figure - 20.0).abs() < 1e-9);
        assert!((share.part - 0.5).abs() < 1e-9);
        assert!(share.uncertainty < 1e-9);
        assert!(PairedFigures::default().share().is_none());
    }
}
