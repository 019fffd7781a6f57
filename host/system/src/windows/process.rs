//! What this process uses: nothing is known here.

use std::collections::HashMap;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

/// This process.
#[derive(Debug)]
pub struct Process {
    begun: Duration,
}

/// Gives way to other processes: not done here.
pub fn give_way() {}

/// Bounds what this process may take: not done here.
pub fn bound(_memory: u64, _time: Duration) {}

/// Whether a process has ended at its bound of processor time: none has one here.
#[must_use]
pub fn has_computed_too_long(_: ExitStatus) -> bool {
    false
}

impl Process {
    /// This process, as of now.
    #[must_use]
    pub fn open() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            begun: now.unwrap_or_default(),
        }
    }

    /// Its memory, in bytes.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        None
    }

    /// How many files, pipes and sockets are open.
    #[must_use]
    pub fn descriptors(&self) -> Option<usize> {
        None
    }

    /// How many may be open.
    #[must_use]
    pub fn most_descriptors(&self) -> Option<u64> {
        None
    }

    /// Its processor time.
    #[must_use]
    pub fn cpu_time(&self) -> Option<Duration> {
        None
    }

    /// When it started, since 1970.
    #[must_use]
    pub fn begun(&self) -> Duration {
        self.begun
    }
}

/// The memory of process groups, which is unknown here.
#[must_use]
pub fn memory_of_groups(_: &[u32]) -> HashMap<u32, u64> {
    HashMap::new()
}
