//! How fast `acp-chain scan` reads what agents have recorded, through `permissions` and `redact`, on two processors.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::Value;

use super::stats::median;
use super::{Effort, Watchdog};
use crate::subjects::{Places, Processors, scanning};
use crate::transcripts;

/// How many processors the command has at most.
const PROCESSORS: usize = 2;

/// The size of the recordings of the first run, in bytes. It compiles what is not in the cache.
const FIRST: u64 = 1_000_000;

/// The result.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ScanResult {
    /// The size of the recordings, in bytes.
    pub bytes: u64,
    /// How many tool calls are in them.
    pub calls: u64,
    /// How many prompts are in them.
    pub prompts: u64,
    /// How many processors the command had.
    pub processors: usize,
    /// How long it took: the median.
    pub seconds: f64,
}

impl ScanResult {
    /// The size of the recordings, in MB.
    #[allow(clippy::cast_precision_loss, reason = "no recordings are so large")]
    #[must_use]
    pub fn megabytes(&self) -> f64 {
        self.bytes as f64 / 1e6
    }
}

/// Measures it.
pub fn run(places: &Places, effort: &Effort, watchdog: &Watchdog) -> Result<ScanResult> {
    eprintln!("scan");
    let home = places.scratch.join("recorded");
    let write = |size| {
        watchdog.pet("the recordings");
        transcripts::write(&places.recordings, &home, size).context("the recordings")
    };
    let processors = Processors::only(PROCESSORS)?;
    let count = thread::available_parallelism().map_or(1, usize::from);
    let first = write(FIRST)?;
    scan(scanning(places, &home)?, first)?;
    let bytes = write(effort.recorded)?;
    let (mut took, mut calls, mut prompts) = (Vec::new(), 0, 0);
    for _ in 0..effort.scans {
        watchdog.pet("scan");
        let command = scanning(places, &home)?;
        let begin = Instant::now();
        let played = scan(command, bytes)?;
        took.push(begin.elapsed().as_secs_f64());
        ensure!(played.has_secrets, "no secret was found");
        (prompts, calls) = (played.prompts, played.calls);
    }
    drop(processors);
    remove(&home)?;
    Ok(ScanResult {
        bytes,
        calls,
        prompts,
        processors: count.min(PROCESSORS),
        seconds: median(&mut took).context("there was no scan")?,
    })
}

/// What a scan has played, and whether it found secrets.
struct Played {
    prompts: u64,
    calls: u64,
    has_secrets: bool,
}

/// Scans recordings of this size.
fn scan(mut command: Command, bytes: u64) -> Result<Played> {
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the scan failed: {told}");
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let all = report["recordings"].as_array().context("no recordings")?;
    let sum = |member: &str| -> u64 { all.iter().filter_map(|of| of[member].as_u64()).sum() };
    let read = sum("bytes");
    ensure!(read == bytes, "{read} bytes were read, not {bytes}");
    let is_found = |member: &str| {
        let found = report[member].as_array();
        found.is_some_and(|found| !found.is_empty())
    };
    ensure!(!is_found("problems"), "not all was read: {report}");
    Ok(Played {
        prompts: sum("prompts"),
        calls: sum("calls"),
        has_secrets: is_found("secrets"),
    })
}

fn remove(folder: &Path) -> Result<()> {
    let shown = folder.display();
    fs::remove_dir_all(folder).with_context(|| format!("{shown} cannot be removed"))
}
