//! The standard library for other targets.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::progress::{Progress, Step};

/// Installs the standard library for a target, by name, as some set-ups disable installing on demand.
pub fn add(progress: &Progress, step: &Step, target: &str) -> Result<()> {
    let sysroot = Command::new("rustc")
        .args(["--print=target-libdir", "--target", target])
        .output()?;
    if Path::new(String::from_utf8_lossy(&sysroot.stdout).trim()).exists() {
        return Ok(());
    }
    progress.say(&format!(
        "The target {target} is missing: rustup target add {target}"
    ));
    step.run(Command::new("rustup").args(["target", "add", target]))
}
