//! Measurements in turn, with all subjects running.

use std::time::Instant;

use anyhow::{Context, Result};

use super::stats::{median, number, quantile, uncertainty};
use super::{
    Effort, Figures, LARGE, LARGE_ROUND_TRIPS, Noise, ROUND_TRIPS, RoundTrip, SIZES, UPDATES,
    Updates, Watchdog,
};
use crate::subjects::{CAN_LOOK, Family, Places, RunningSubject};

/// The minimum number of round trips of a visit, and of one with large messages.
const LEAST: usize = 20;
const LEAST_LARGE: usize = 3;

/// The text of the first burst, which determines the length of the others, in bytes.
const TASTE: usize = 200_000;

/// The longest burst, in bytes.
const MOST: usize = 1 << 30;

/// A running subject, and where its measurements go.
pub struct LiveSubject<'f> {
    pub figures: &'f mut Figures,
    running: RunningSubject,
}

impl<'f> LiveSubject<'f> {
    /// Starts a subject, and warms it up.
    pub fn begin(places: &Places, figures: &'f mut Figures) -> Result<Self> {
        let (running, _) = figures.subject.warm(places)?;
        Ok(Self { figures, running })
    }

    fn time(&self) -> f64 {
        self.running.tree().time().as_secs_f64()
    }
}

/// The results of one subject.
#[derive(Default)]
struct SubjectResults {
    samples: Vec<f64>,
    messages: usize,
    /// The processor time before.
    before: f64,
    /// The processor seconds for 100,000 messages.
    cpu_s: Option<f64>,
}

/// Prompts and their answers.
pub fn round_trips(
    live: &mut [LiveSubject],
    effort: &Effort,
    large: bool,
    watchdog: &Watchdog,
) -> Result<Noise> {
    let (what, size, rounds, least) = if large {
        (LARGE_ROUND_TRIPS, LARGE, effort.large_rounds, LEAST_LARGE)
    } else {
        (ROUND_TRIPS, 0, effort.rounds, LEAST)
    };
    let (all, noise) = in_turn(live, what, rounds, watchdog, |running, found| {
        let (begin, first) = (Instant::now(), found.samples.len());
        while found.samples.len() < first + least || begin.elapsed() < effort.turn {
            let took = running.client.ping(size)?;
            found.samples.push(took.as_secs_f64() * 1e6);
            found.messages += 2;
        }
        Ok(median(&mut found.samples[first..].to_vec()))
    })?;
    for (live, mut found) in live.iter_mut().zip(all) {
        let mut part = |part| quantile(&mut found.samples, part);
        let trip = part(0.5).zip(part(0.99)).zip(part(0.999));
        let trip = trip.map(|((p50_us, p99_us), p999_us)| RoundTrip {
            samples: found.samples.len(),
            p50_us,
            p99_us,
            p999_us,
            cpu_s: found.cpu_s,
        });
        if large {
            live.figures.large_round_trip = trip;
        } else {
            live.figures.round_trip = trip;
        }
    }
    Ok(noise)
}

/// Bursts of updates of one of the sizes.
pub fn updates(
    live: &mut [LiveSubject],
    effort: &Effort,
    which: usize,
    watchdog: &Watchdog,
) -> Result<Noise> {
    let size = SIZES[which];
    let rounds = match size {
        LARGE => effort.large_rounds,
        _ => effort.rounds,
    };
    let burst = |running: &mut RunningSubject, count| -> Result<f64> {
        let took = running.client.burst(count, size)?;
        Ok(number(count) / took.as_secs_f64())
    };
    let (all, noise) = in_turn(live, UPDATES[which], rounds, watchdog, |running, found| {
        let last = match found.samples.last() {
            Some(last) => *last,
            None => {
                let taste = (TASTE / size).max(1);
                found.messages += taste;
                burst(running, taste)?
            }
        };
        let count = count(last * effort.turn.as_secs_f64()).clamp(1, MOST / size);
        let rate = burst(running, count)?;
        found.samples.push(rate);
        found.messages += count;
        Ok(Some(rate))
    })?;
    for (live, mut found) in live.iter_mut().zip(all) {
        live.figures.updates[which] = median(&mut found.samples).map(|per_second| Updates {
            per_second,
            cpu_s: found.cpu_s,
        });
    }
    Ok(noise)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is limited afterwards"
)]
fn count(number: f64) -> usize {
    number as usize
}

/// Visits every subject in every round, and the relay at the start, in the middle and at the end. The order of the
/// others changes each time.
fn in_turn(
    live: &mut [LiveSubject],
    what: &'static str,
    rounds: usize,
    watchdog: &Watchdog,
    mut visit: impl FnMut(&mut RunningSubject, &mut SubjectResults) -> Result<Option<f64>>,
) -> Result<(Vec<SubjectResults>, Noise)> {
    eprintln!("{what}");
    let is_relay = |live: &LiveSubject| live.figures.subject.family == Family::Relay;
    let relay = live.iter().position(is_relay);
    let relay = relay.context("there is no relay")?;
    let others: Vec<_> = (0..live.len()).filter(|at| *at != relay).collect();
    let begin = |live: &LiveSubject| SubjectResults {
        before: live.time(),
        ..SubjectResults::default()
    };
    let mut all: Vec<_> = live.iter().map(begin).collect();
    let (mut visits, mut middles) = (0, Vec::new());
    for round in 0..rounds {
        let mut order = others.clone();
        order.rotate_left(round * others.len() / rounds);
        order.insert(order.len() / 2, relay);
        order.insert(0, relay);
        order.push(relay);
        let mut of_relay = Vec::new();
        for at in order {
            let name = &live[at].figures.name;
            watchdog.pet(name);
            let context = format!("{what}, {name}");
            let value = visit(&mut live[at].running, &mut all[at]).context(context)?;
            of_relay.extend(value.filter(|_| at == relay));
        }
        visits += of_relay.len();
        middles.extend(median(&mut of_relay));
    }
    for (live, found) in live.iter().zip(&mut all) {
        if CAN_LOOK && found.messages > 0 {
            found.cpu_s = Some((live.time() - found.before) * 1e5 / number(found.messages));
        }
    }
    let noise = Noise {
        what,
        visits,
        uncertainty: uncertainty(&mut middles),
    };
    Ok((all, noise))
}
