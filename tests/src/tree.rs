//! The processes of one chain, known by a variable in their environment that all inherit.

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
    // What is seen to run may have started others before it ended.
    loop {
        let left = marked(mark.as_bytes());
        if left.is_empty() {
            return;
        }
        for id in left {
            gone(transcript, id).await.expect("it can be watched");
        }
    }
}

/// The processes that have this in their environment.
fn marked(mark: &[u8]) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("the processes");
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        // Those that have ended, and those of other users, have none to show.
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == mark)
    })
    .collect()
}
