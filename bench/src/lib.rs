//! Measures what acp-chain costs: `cargo xtask bench`.
//!
//! Everything is measured over real pipes, with one client and one agent, and in turn: a round visits every subject,
//! and the relay several times, so that a disturbance of the machine affects all of them. The client and the agent
//! parse as little JSON as possible, so that they are never the bottleneck.

#![forbid(unsafe_code)]

pub mod agent;
pub mod bare;
pub mod client;
pub mod hooks;
pub mod lines;
pub mod measures;
pub mod plots;
pub mod report;
pub mod serve;
pub mod subjects;
pub mod transcripts;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Creates the folder for files of a run, in that for all output, without those of an earlier run.
///
/// # Errors
/// If it cannot be created.
pub fn scratch(out: &Path) -> io::Result<PathBuf> {
    let scratch = out.join("scratch");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    Ok(scratch)
}
