//! Subjects beside the first of them, in pairs, as the differences are smaller than a machine's fluctuations from one
//! minute to the next. All are started anew several times, as two processes of one program can differ by more than
//! what is measured.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use super::stats::{median, mib, number, uncertainty};
use super::{LARGE, Watchdog};
use crate::subjects::{CAN_LOOK, Places, Running, Subject};

/// Prompts before anything is measured.
const WARM_UP: usize = 200;

/// A burst of updates, which is a turn as well, in bytes; at least one update.
const BURST: usize = 1_000_000;

/// Rounds of subjects that were started together.
const ROUNDS: usize = 8;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Milliseconds from the start to the answer to `initialize`.
    Start,
    /// Turns per second, one after the other.
    Turns,
    /// The same with prompts of 8 MiB.
    LargeTurns,
    /// Updates of this size per second, as fast as they arrive.
    Updates(usize),
    /// MiB of all processes at the end.
    Memory,
}

/// The figures of one subject, and those relative to the first subject: one for each time that all were started.
#[derive(Debug, Default)]
pub struct Found {
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

impl Found {
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
}

/// What is measured in pairs, and for how long.
pub struct Pairs<'p> {
    pub measures: &'p [Measure],
    /// How often all are started.
    pub starts: usize,
    /// How long a visit takes.
    pub turn: Duration,
    pub watchdog: &'p Watchdog,
}

impl Pairs<'_> {
    /// Visits each subject in every round, in another order each time. The results are by subject and measure.
    pub fn run(&self, subjects: &[(&Places, Subject)]) -> Result<Vec<Vec<Found>>> {
        let none = |_: &_| self.measures.iter().map(|_| Found::default()).collect();
        let mut all: Vec<Vec<Found>> = subjects.iter().map(none).collect();
        // The first start of each compiles what is not in the cache.
        for (places, subject) in subjects {
            self.watchdog.pet(&subject.to_string());
            subject.start(places)?.client.initialize()?;
        }
        for start in 0..self.starts {
            let mut live = Vec::new();
            for at in order(subjects.len(), start) {
                let (places, subject) = &subjects[at];
                self.watchdog.pet(&subject.to_string());
                live.push((at, self.begin(places, subject)?));
            }
            live.sort_by_key(|(at, _)| *at);
            for round in 0..ROUNDS {
                for at in order(live.len(), start + round) {
                    let name = live[at].1.running.subject.to_string();
                    self.watchdog.pet(&name);
                    self.visit(&mut live[at].1).context(name)?;
                }
            }
            for (_, live) in &mut live {
                self.end(live);
            }
            for (found, (_, of)) in all.iter_mut().zip(&live) {
                for (measure, found) in found.iter_mut().enumerate() {
                    found.add(&of.samples[measure], &live[0].1.samples[measure]);
                }
            }
        }
        Ok(all)
    }

    fn begin(&self, places: &Places, subject: &Subject) -> Result<Live> {
        let mut running = subject.start(places)?;
        running.client.initialize()?;
        let start = running.since.elapsed().as_secs_f64() * 1e3;
        subject.open_sessions(places, &mut running)?;
        for _ in 0..WARM_UP.max(subject.sessions()) {
            running.client.ping(0)?;
        }
        let first = |measure: &_| Vec::from_iter((*measure == Measure::Start).then_some(start));
        let samples = self.measures.iter().map(first).collect();
        Ok(Live { running, samples })
    }

    /// An equal part of its turn for each measure.
    fn visit(&self, live: &mut Live) -> Result<()> {
        let repeated = self.measures.iter().filter(|of| of.is_repeated()).count();
        let part = self.turn / u32::try_from(repeated)?;
        for (measure, samples) in self.measures.iter().zip(&mut live.samples) {
            if !measure.is_repeated() {
                continue;
            }
            let client = &mut live.running.client;
            let (begin, mut count) = (Instant::now(), 0);
            while count == 0 || begin.elapsed() < part {
                count += match *measure {
                    Measure::Updates(size) => {
                        let burst = (BURST / size).max(1);
                        client.burst(burst, size)?;
                        burst
                    }
                    Measure::LargeTurns => client.ping(LARGE).map(|_| 1)?,
                    _ => client.ping(0).map(|_| 1)?,
                };
            }
            samples.push(number(count) / begin.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn end(&self, live: &mut Live) {
        for (measure, samples) in self.measures.iter().zip(&mut live.samples) {
            if *measure == Measure::Memory && CAN_LOOK {
                samples.push(mib(live.running.tree().memory()));
            }
        }
    }
}

/// A running subject, and its samples of each measure.
struct Live {
    running: Running,
    samples: Vec<Vec<f64>>,
}

impl Found {
    fn add(&mut self, of: &[f64], first: &[f64]) {
        let mut parts: Vec<_> = of.iter().zip(first).map(|(of, to)| of / to).collect();
        self.figures.extend(median(&mut of.to_vec()));
        self.parts.extend(median(&mut parts));
    }
}

/// An order of so many, so that each follows each other one.
fn order(count: usize, round: usize) -> Vec<usize> {
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
        let mut found = Found::default();
        found.add(&[1.0, 20.0, 300.0], &[2.0, 40.0, 600.0]);
        found.add(&[1.0, 20.0, 300.0], &[2.0, 40.0, 600.0]);
        let share = found.share().unwrap();
        assert!((share.figure - 20.0).abs() < 1e-9);
        assert!((share.part - 0.5).abs() < 1e-9);
        assert!(share.uncertainty < 1e-9);
        assert!(Found::default().share().is_none());
    }
}
