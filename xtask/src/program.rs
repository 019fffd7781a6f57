//! The program as people get it: with the extensions that come with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Its file.
pub const PROGRAM: &str = if cfg!(windows) {
    "acp-chain.exe"
} else {
    "acp-chain"
};

/// The extensions that come with it, in the order in which they are listed.
pub const EXTENSIONS: [&str; 5] = ["rules", "todo", "project-map", "permissions", "redact"];

/// Has it make one that carries extensions.
pub fn bundle(program: &Path, extensions: &[PathBuf], to: &Path) -> Result<()> {
    let status = Command::new(program)
        .arg("bundle")
        .args(extensions)
        .arg("--output")
        .arg(to)
        .status()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    ensure!(status.success(), "the extensions were not added");
    Ok(())
}
