//! How much memory this process may have.

use std::fs::read_to_string;
use std::path::Path;

/// The memory for this process and everything else in its container, in bytes, if known.
pub fn all() -> Option<u64> {
    let of_machine = read_to_string("/proc/meminfo").ok();
    let of_machine = of_machine.as_deref().and_then(total);
    // For either version of control groups: a container sees its own at the root.
    let of_container = ["memory.max", "memory/memory.limit_in_bytes"]
        .iter()
        .filter_map(|name| number(&Path::new("/sys/fs/cgroup").join(name)));
    of_container.chain(of_machine).min()
}

/// How many memory mappings a process may have, if known.
pub fn areas() -> Option<u64> {
    number(Path::new("/proc/sys/vm/max_map_count"))
}

/// Returns free memory to the system, which this allocator would keep. Takes milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "a function of the C library, which any thread may call at any time"
)]
pub fn give_back() {
    // SAFETY: `malloc_trim` has no preconditions.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: other allocators return free memory to the system.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}

fn number(path: &Path) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

/// The value in the first line of `/proc/meminfo`.
fn total(info: &str) -> Option<u64> {
    let kibibytes = info.lines().next()?.strip_prefix("MemTotal:")?;
    let kibibytes: u64 = kibibytes.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let info = "MemTotal:       24688844 kB\nMemFree:         8123 kB\n";
        assert_eq!(total(info), Some(24_688_844 << 10));
        assert_eq!(total("MemFree: 1 kB"), None);
        assert_eq!(total(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_of_this_machine_is_known() {
        assert!(all().is_some_and(|all| all > 64 << 20));
        assert!(areas().is_some_and(|areas| areas > 1000));
    }
}
