//! The resource use of processes: not implemented.

use std::collections::HashMap;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

#[derive(Debug)]
pub struct Process {
    begun: Duration,
}

/// Lowers our priority: not implemented.
pub fn give_way() {}

/// Limits the resources of this process: not implemented.
pub fn bound(_memory: u64, _time: Duration) {}

/// Whether a process has ended at its limit of processor time: there is none here.
pub fn has_computed_too_long(_: ExitStatus) -> bool {
    false
}

impl Process {
    pub fn open() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            begun: now.unwrap_or_default(),
        }
    }

    /// Its memory, in bytes.
    pub fn memory(&self) -> Option<u64> {
        None
    }

    /// How many files, pipes and sockets are open.
    pub fn descriptors(&self) -> Option<usize> {
        None
    }

    /// The limit of open files, pipes and sockets.
    pub fn most_descriptors(&self) -> Option<u64> {
        None
    }

    /// Its processor time.
    pub fn cpu_time(&self) -> Option<Duration> {
        None
    }

    /// When it started, since 1970.
    pub fn begun(&self) -> Duration {
        self.begun
    }
}

/// The memory of process groups, which is unknown here.
pub fn memory_of_groups(_: &[u32]) -> HashMap<u32, u64> {
    HashMap::new()
}
