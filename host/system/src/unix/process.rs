//! What this process uses, where `/proc` tells.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use rustix::fs::{Dir, Mode, OFlags, open};
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// This process. Files are opened at first, to be read when nothing else can be opened.
#[derive(Debug)]
pub struct Process {
    /// The system's memory statistics, and the size of its pages.
    memory: Option<File>,
    page: u64,
    /// Reading it iterates over it.
    descriptors: Option<Mutex<Dir>>,
    begun: Duration,
}

impl Process {
    /// The one that we are, as of now.
    #[must_use]
    pub fn open() -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // When first called, either reads `/proc`.
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

    /// The memory that it has, in bytes.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        let mut text = [0; 256];
        let count = self.memory.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..count]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page)
    }

    /// How many files, pipes and sockets are open.
    #[must_use]
    pub fn descriptors(&self) -> Option<usize> {
        let mut directory = self.descriptors.as_ref()?.lock().ok()?;
        directory.rewind();
        let mut count: usize = 0;
        while let Some(entry) = directory.read() {
            entry.ok()?;
            count += 1;
        }
        // Itself, and its parent.
        Some(count.saturating_sub(2))
    }

    /// How many may be.
    #[must_use]
    pub fn most_descriptors(&self) -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    /// Its processor time.
    #[must_use]
    pub fn cpu_time(&self) -> Option<Duration> {
        Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()
    }

    /// When it began, since 1970.
    #[must_use]
    pub fn begun(&self) -> Duration {
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_says_what_it_uses_now() {
        let process = Process::open();
        let before = process.descriptors().unwrap();
        let more: Vec<_> = (0..200).map(|_| File::open("/proc").unwrap()).collect();
        // Other tests open and close some.
        assert!(process.descriptors().unwrap() + 50 > before + more.len());
        assert!(process.memory().is_some_and(|bytes| bytes > 1 << 20));
        assert!(process.cpu_time().is_some_and(|time| !time.is_zero()));
        assert!(process.most_descriptors().is_some_and(|most| most > 200));
    }
}
