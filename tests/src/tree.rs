//! The processes of one chain, found by an environment variable that all of them inherit.

use std::fs;
use std::path::Path;

use crate::process::gone;
use crate::transcript::Transcript;

/// The variable; its value is the chain's folder.
pub const MARK: &str = "ACP_CHAIN_TEST_TREE";

/// Waits until no process of the chain with that folder runs.
///
/// # Panics
/// If one cannot be watched, or still runs after [`WATCHDOG`](crate::wire::WATCHDOG).
pub async fn is_gone(transcript: &Transcript, folder: &Path) {
    let mark = format!("{MARK}={}", folder.display());
    // A process in the list may have started others before it ended.
    loop {
        let left = marked(mark.as_bytes());
        if left.is_empty() {
            return;
        }
        for id in left {
            gone(transcript, id).await.expect("the wait succeeds");
        }
    }
}

/// The processes that have this in their environment.
fn marked(mark: &[u8]) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("the processes");
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        // The environment of ended processes, and of other users' processes, cannot be read.
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == mark)
    })
    .collect()
}
