//! The machine of a run. Unknown properties stay empty.

use std::fs;
use std::thread;

use serde::Serialize;

/// A machine.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// How many processors there are.
    pub processors: usize,
    /// Memory in GiB.
    pub memory_gib: u64,
    /// The system and its version.
    pub system: String,
}

impl Machine {
    /// The current machine.
    #[must_use]
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let value = |text: &str, name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches([' ', '\t', ':']).to_owned())
        };
        let memory = value(&read("/proc/meminfo"), "MemTotal");
        let memory = memory.and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            processor: value(&read("/proc/cpuinfo"), "model name").unwrap_or_default(),
            processors: thread::available_parallelism().map_or(0, usize::from),
            memory_gib: (memory.unwrap_or_default() + (1 << 19)) >> 20,
            system: format!("{} {}", std::env::consts::OS, release.trim()),
        }
    }

    /// The beginning of a sentence that says where this commit was measured.
    pub(crate) fn measured(&self, commit: Option<&str>) -> String {
        let version = commit.map_or_else(String::new, |commit| format!(", commit {commit}"));
        format!(
            "Measured on {} × {}, {} GiB, {}{version}",
            self.processors, self.processor, self.memory_gib, self.system
        )
    }
}
