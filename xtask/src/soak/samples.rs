//! The resources that the host's process uses, from `/proc`, once a second.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

/// The interval of samples.
const EVERY: Duration = Duration::from_secs(1);

/// The resources used at one time: resident memory in KiB, handles, and threads.
pub type Sample = [u64; 3];

pub struct Samples {
    process: PathBuf,
    warm_up: Duration,
    taken: Duration,
    kept: Vec<Sample>,
}

impl Samples {
    /// For a process that works for this long. The first fifth is its warm-up, without samples.
    pub fn of(process: u32, time: Duration) -> Self {
        Self {
            process: Path::new("/proc").join(process.to_string()),
            warm_up: time / 5,
            taken: Duration::ZERO,
            kept: Vec::new(),
        }
    }

    /// Takes a sample if one is due.
    pub fn take(&mut self, now: Duration) -> Result<()> {
        if now >= self.warm_up && now >= self.taken + EVERY {
            self.taken = now;
            self.kept.push(self.sample()?);
        }
        Ok(())
    }

    fn sample(&self) -> Result<Sample> {
        let status = fs::read_to_string(self.process.join("status"))?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|line| line.trim().strip_suffix(" kB"));
        let count =
            |folder| -> Result<u64> { Ok(fs::read_dir(self.process.join(folder))?.count() as u64) };
        let memory = memory.context("the process has no VmRSS")?.parse()?;
        Ok([memory, count("fd")?, count("task")?])
    }

    /// The peaks in the first quarter after the warm-up, in the last, and overall; zeros if the run was too short.
    pub fn peaks(&self) -> [Sample; 3] {
        let quarter = self.kept.len() / 4;
        let (first, last) = (&self.kept[..quarter], &self.kept[quarter * 3..]);
        [first, last, &self.kept].map(peak)
    }
}

fn peak(samples: &[Sample]) -> Sample {
    let most = |at: usize| samples.iter().map(|sample| sample[at]).max();
    [0, 1, 2].map(|at| most(at).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quarters_are_compared_by_their_peaks() {
        let sample = |memory| [memory, 0, 0];
        let mut samples = Samples::of(0, Duration::from_secs(10));
        samples.kept = [5, 1, 9, 9, 9, 2, 7, 3].map(sample).into();
        assert_eq!(samples.peaks(), [5, 7, 9].map(sample));
    }

    #[test]
    fn this_process_uses_something() {
        let mut samples = Samples::of(std::process::id(), Duration::ZERO);
        samples.take(Duration::from_secs(1)).unwrap();
        let [memory, handles, threads] = samples.kept[0];
        assert!(memory > 0 && handles > 2 && threads > 0);
    }
}
