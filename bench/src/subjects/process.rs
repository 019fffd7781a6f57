//! A subject's processes, from `/proc`, which only Linux has.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Whether processes can be inspected here.
pub const CAN_LOOK: bool = cfg!(target_os = "linux");

/// The file to which measured programs print errors.
const LOG: &str = "stderr.log";

/// Ticks per second, the unit of time in `/proc`; for programs it has always been 100.
const TICKS: u64 = 100;

/// Keeps the current thread, and all processes that it starts meanwhile, on a few processors.
#[derive(Debug)]
pub struct Processors {
    #[cfg(target_os = "linux")]
    before: CpuSet,
}

impl Processors {
    /// On so many, if there are more. Has no effect except on Linux.
    ///
    /// # Errors
    /// If the system refuses.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(unused_variables, reason = "no other system is asked")
    )]
    pub fn only(count: usize) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            let before = sched_getaffinity(None)?;
            let mut few = CpuSet::new();
            // The first has most interrupts.
            let all = (0..CpuSet::MAX_CPU).rev().filter(|at| before.is_set(*at));
            for at in all.take(count) {
                few.set(at);
            }
            sched_setaffinity(None, &few)?;
            Ok(Self { before })
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Self {})
    }
}

#[cfg(target_os = "linux")]
impl Drop for Processors {
    fn drop(&mut self) {
        // The same set was allowed before.
        let _ = sched_setaffinity(None, &self.before);
    }
}

/// A command whose environment does not change what is measured.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_remove("RUST_LOG").env_remove("RUST_BACKTRACE");
    command
}

/// acp-chain without arguments, as a user starts it who has set nothing, with its files in this folder.
pub fn acp_chain(program: &Path, folder: &Path) -> Command {
    let mut command = command(program);
    for unset in ["ACP_CHAIN_LOG", "ACP_CHAIN_TRACE", "ACP_CHAIN_TRACE_BODIES"] {
        command.env_remove(unset);
    }
    for name in ["config", "data", "state", "cache"] {
        let variable = format!("XDG_{}_HOME", name.to_uppercase());
        command.env(variable, folder.join(name));
    }
    command.env("OTEL_SDK_DISABLED", "true");
    command
}

/// The file in the folder of the run to which all measured programs print errors.
pub fn log(scratch: &Path) -> io::Result<File> {
    let path = scratch.join(LOG);
    File::options().create(true).append(true).open(path)
}

/// Where the measured programs printed errors, as the context of an error.
#[must_use]
pub fn printed_to(scratch: &Path) -> String {
    let log = scratch.join(LOG);
    format!("the measured programs printed to {}", log.display())
}

/// The indices of these fields in `/proc/ID/stat`, counted from after the name.
const PARENT: usize = 1;
const TIMES: std::ops::Range<usize> = 11..15;
const STARTED: usize = 19;

/// A process and its descendants, each with its start time.
#[derive(Debug)]
pub struct Tree(Vec<(u32, u64)>);

impl Tree {
    /// The current tree.
    #[must_use]
    pub fn of(root: u32) -> Self {
        let mut children = HashMap::<u64, Vec<(u32, u64)>>::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(id) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            if let Some((parent, started)) = field(id, PARENT).zip(field(id, STARTED)) {
                let child = (id, started);
                children.entry(parent).or_default().push(child);
            }
        }
        let mut all = Vec::new();
        all.extend(field(root, STARTED).map(|started| (root, started)));
        let mut next = 0;
        while let Some((id, _)) = all.get(next) {
            let more = children.remove(&u64::from(*id)).unwrap_or_default();
            all.extend(more);
            next += 1;
        }
        Self(all)
    }

    /// Its processes that run the program with this name, of which the system keeps 15 bytes.
    #[must_use]
    pub fn only(mut self, name: &str) -> Self {
        let name = &name[..name.len().min(15)];
        self.0.retain(|(id, _)| {
            let runs = fs::read_to_string(format!("/proc/{id}/comm"));
            runs.is_ok_and(|runs| runs.trim_end() == name)
        });
        self
    }

    /// How many processes it has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Its memory in bytes: shared memory is divided among processes (PSS).
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.sum("Pss:")
    }

    /// The part of its memory that is not a file's, in bytes: what it has written. The pages of files can be dropped at
    /// any time.
    #[must_use]
    pub fn own_memory(&self) -> u64 {
        self.sum("Pss_Anon:")
    }

    /// The sum of a figure of all its processes, in bytes.
    fn sum(&self, name: &str) -> u64 {
        let of = |(id, _): &(u32, u64)| {
            let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
            let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        self.0.iter().filter_map(of).sum::<u64>() * 1024
    }

    /// Its processor time so far, including ended processes that were waited for.
    #[must_use]
    pub fn time(&self) -> Duration {
        let of = |(id, _): &(u32, u64)| TIMES.filter_map(|at| field(*id, at)).sum::<u64>();
        Duration::from_millis(self.0.iter().map(of).sum::<u64>() * 1000 / TICKS)
    }

    /// Kills its remaining processes.
    pub fn kill(&self) {
        for (id, started) in &self.0 {
            let pid = i32::try_from(*id).ok().and_then(Pid::from_raw);
            // The process may have ended, and its id may be reused.
            if let Some(pid) = pid.filter(|_| field(*id, STARTED) == Some(*started)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// A number from `/proc/ID/stat`.
fn field(id: u32, at: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(at)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_tree_has_what_was_started_in_it() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let tree = Tree::of(std::process::id());
        assert!(tree.0.iter().any(|(id, _)| *id == child.id()));
        assert!((1..tree.memory()).contains(&tree.own_memory()));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
