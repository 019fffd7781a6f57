//! The processes of one trial, identified by the home folder, which all inherit.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Waits until all have ended; returns the names of those that still run.
pub fn left(home: &Path, patience: Duration) -> Vec<String> {
    let start = Instant::now();
    loop {
        let left = of(home);
        if left.is_empty() || start.elapsed() > patience {
            return left.into_iter().map(name).collect();
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Kills all repeatedly, since a process may start others before it ends.
pub fn kill(home: &Path) {
    for _ in 0..20 {
        let left = of(home);
        if left.is_empty() {
            return;
        }
        let ids = left.iter().map(u32::to_string);
        // Some may have ended already.
        let _ = Command::new("kill").arg("-9").args(ids).output();
        thread::sleep(Duration::from_millis(50));
    }
}

fn of(home: &Path) -> Vec<u32> {
    let mark = format!("HOME={}", home.display());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        // Ended processes, and those of other users, show no environment.
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|one| one == mark.as_bytes())
    })
    .collect()
}

fn name(id: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    name.trim().to_owned()
}
