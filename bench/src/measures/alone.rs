//! Measurements of a subject that runs alone: its start, and its memory.

use std::fs;
use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::stats::median;
use super::{Effort, Figures, IdleResources, SIZES, StartTime, Watchdog};
use crate::subjects::{CAN_LOOK, Places};

/// Turns before the memory at rest is measured, and how long it rests before that.
const TURNS: usize = 100;
const REST: Duration = Duration::from_millis(500);

/// The burst for a slow reader: 1 GB, in updates of 10 kB.
const FLOOD: usize = 100_000;

/// How much of the burst is read at once, and how often: 4 MB/s.
const SIP: usize = 40_000;
const EVERY: Duration = Duration::from_millis(10);

/// How often the memory is measured meanwhile, in sips.
const LOOK: u32 = 10;

/// Starts each subject, first without compiled code, then with it.
pub fn starts(
    places: &Places,
    effort: &Effort,
    all: &mut [Figures],
    watchdog: &Watchdog,
) -> Result<()> {
    let cold = places.scratch.join("cold");
    let is_cold = |figures: &&mut Figures| figures.subject.is_started_cold();
    for figures in all.iter_mut().filter(is_cold) {
        eprintln!("{}: starts without compiled code", figures.name);
        let mut took = Vec::new();
        for _ in 0..effort.cold_starts {
            if cold.exists() {
                fs::remove_dir_all(&cold)?;
            }
            took.push(start(places, figures, "cold")?);
            watchdog.pet(&figures.name);
        }
        figures.cold_start_ms = median(&mut took);
    }
    eprintln!("starts");
    let mut took = vec![Vec::new(); all.len()];
    // The first start of each fills the cache, if needed.
    for round in 0..=effort.starts {
        for (figures, took) in all.iter().zip(&mut took) {
            if figures.subject.is_started() {
                let start = start(places, figures, "cache")?;
                took.extend((round > 0).then_some(start));
                watchdog.pet(&figures.name);
            }
        }
    }
    for (figures, took) in all.iter_mut().zip(&mut took) {
        figures.start = median(took)
            .zip(took.last().copied())
            .map(|(p50_ms, worst_ms)| StartTime { p50_ms, worst_ms });
    }
    Ok(())
}

fn start(places: &Places, figures: &Figures, cache: &str) -> Result<f64> {
    let start = || {
        let mut running = figures.subject.start_with(places, cache)?;
        running.client.initialize()?;
        Ok::<_, anyhow::Error>(running.since.elapsed().as_secs_f64() * 1e3)
    };
    start().with_context(|| figures.name.clone())
}

/// Measures the memory of each subject, at rest and with a slow client.
pub fn memory(
    places: &Places,
    effort: &Effort,
    all: &mut [Figures],
    watchdog: &Watchdog,
) -> Result<()> {
    if !CAN_LOOK {
        eprintln!("memory and processor time are measured on Linux only");
        return Ok(());
    }
    eprintln!("memory");
    for figures in all {
        let name = figures.name.clone();
        if figures.subject.is_started() {
            figures.rest = Some(rest(places, figures).with_context(|| name.clone())?);
            watchdog.pet(&name);
        }
        if figures.subject.is_flooded() {
            figures.peak = Some(peak(places, effort, figures).context(name.clone())?);
            watchdog.pet(&name);
        }
    }
    Ok(())
}

fn rest(places: &Places, figures: &Figures) -> Result<IdleResources> {
    let (mut running, _) = figures.subject.open(places)?;
    for _ in 0..TURNS {
        running.client.ping(0)?;
    }
    thread::sleep(REST);
    let tree = running.tree();
    Ok(IdleResources {
        memory: tree.memory(),
        own_memory: tree.own_memory(),
        processes: tree.count(),
    })
}

fn peak(places: &Places, effort: &Effort, figures: &Figures) -> Result<u64> {
    let (mut running, _) = figures.subject.open(places)?;
    let tree = running.tree();
    let stream = running.client.begin_burst(FLOOD, SIZES[1])?;
    let (begin, mut buffer) = (Instant::now(), vec![0; SIP]);
    let (mut peak, mut sips) = (0, 0);
    while begin.elapsed() < effort.slow {
        stream
            .read_exact(&mut buffer)
            .context("the burst has ended")?;
        if sips % LOOK == 0 {
            peak = peak.max(tree.memory());
        }
        sips += 1;
        thread::sleep((EVERY * sips).saturating_sub(begin.elapsed()));
    }
    Ok(peak.max(tree.memory()))
}
