//! The resources that this process, and others of its user, use, from `/proc`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use rustix::fs::{Dir, Mode, OFlags, open};
use rustix::param::page_size;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// This process. Files are opened early, since later opening others is no longer allowed.
#[derive(Debug)]
pub struct Process {
    /// The system's memory statistics, and the size of its pages.
    memory: Option<File>,
    page: u64,
    /// Locked, since reading a directory moves its position.
    descriptors: Option<Mutex<Dir>>,
    begun: Duration,
}

/// Lowers our priority, so that other processes run first.
pub fn give_way() {
    // A failure only slows other processes.
    let _ = rustix::process::nice(10);
}

/// Limits this process's data memory, in bytes, and its processor time, for good. Past the limit of time it is killed.
/// On Linux it also ends with its parent.
pub fn bound(memory: u64, time: Duration) {
    for (resource, most, more) in [
        (Resource::Data, memory, 0),
        // The soft limit ends the process with a signal of its own (SIGXCPU).
        (Resource::Cpu, time.as_secs(), 1),
        (Resource::Core, 0, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most + more),
        };
        // Fails if the hard limit is lower already.
        let _ = setrlimit(resource, limit);
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Whether a process has ended at its limit of processor time.
pub fn has_computed_too_long(status: ExitStatus) -> bool {
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

impl Process {
    pub fn open() -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // The first call of each function reads `/proc`.
        let (page, _) = (page_size() as u64, clock_gettime(ClockId::ProcessCPUTime));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            memory: File::open("/proc/self/statm").ok(),
            page,
            descriptors: open("/proc/self/fd", flags, Mode::empty())
                .and_then(Dir::new)
                .ok()
                .map(Mutex::new),
            begun: now.unwrap_or_default(),
        }
    }

    /// Its memory, in bytes.
    pub fn memory(&self) -> Option<u64> {
        let mut text = [0; 256];
        let count = self.memory.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..count]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page)
    }

    /// How many files, pipes and sockets are open.
    pub fn descriptors(&self) -> Option<usize> {
        let mut directory = self.descriptors.as_ref()?.lock().ok()?;
        directory.rewind();
        let mut count: usize = 0;
        while let Some(entry) = directory.read() {
            entry.ok()?;
            count += 1;
        }
        // The entries for itself and its parent.
        Some(count.saturating_sub(2))
    }

    /// The limit of open files, pipes and sockets.
    pub fn most_descriptors(&self) -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    /// Its processor time.
    pub fn cpu_time(&self) -> Option<Duration> {
        Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()
    }

    /// When it started, since 1970.
    pub fn begun(&self) -> Duration {
        self.begun
    }
}

/// The memory of process groups, by the ids of their leaders, in bytes: shared memory is divided among processes.
/// Unknown groups are left out.
pub fn memory_of_groups(leaders: &[u32]) -> HashMap<u32, u64> {
    let mut all = HashMap::new();
    let processes = if leaders.is_empty() {
        None
    } else {
        fs::read_dir("/proc").ok()
    };
    for entry in processes.into_iter().flatten().flatten() {
        let path = entry.path();
        let group = fs::read_to_string(path.join("stat")).ok().and_then(|stat| {
            // The fields after the name, which may contain anything: state, parent, group.
            let (_, fields) = stat.rsplit_once(") ")?;
            fields.split(' ').nth(2)?.parse().ok()
        });
        if let Some(group) = group.filter(|group| leaders.contains(group))
            && let Some(memory) = shared_out(&path)
        {
            *all.entry(group).or_default() += memory;
        }
    }
    all
}

/// The memory of a process, with its share of shared memory, in bytes.
fn shared_out(process: &Path) -> Option<u64> {
    let rollup = fs::read_to_string(process.join("smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_group_has_the_memory_of_all_its_processes() {
        use std::io::{BufRead, BufReader};
        use std::os::unix::process::CommandExt;
        use std::process::{Command, Stdio};

        // A shell and its child. A background process of a shell has no input unless redirected: `cat` would end at
        // once, and the shell with it.
        let mut command = Command::new("sh");
        command.args(["-c", "exec 3<&0; cat <&3 & echo begun; wait"]);
        command.process_group(0).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let none = memory_of_groups(&[]);
        let (us, group) = (std::process::id(), child.id());
        let all = memory_of_groups(&[group, us]);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(none.is_empty() && !all.contains_key(&us));
        assert!(all[&group] > 64 << 10, "{all:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_resources_of_this_process_are_known() {
        let process = Process::open();
        let before = process.descriptors().unwrap();
        let more: Vec<_> = (0..200).map(|_| File::open("/proc").unwrap()).collect();
        // Other tests open and close descriptors.
        assert!(process.descriptors().unwrap() + 50 > before + more.len());
        assert!(process.memory().is_some_and(|bytes| bytes > 1 << 20));
        assert!(process.cpu_time().is_some_and(|time| !time.is_zero()));
        assert!(process.most_descriptors().is_some_and(|most| most > 200));
    }
}
