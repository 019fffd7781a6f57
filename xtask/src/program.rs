//! The program as users get it, with its extensions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The program's file name.
pub const PROGRAM: &str = if cfg!(windows) {
    "acp-chain.exe"
} else {
    "acp-chain"
};

/// The extensions that come with the program, in the order in which they are listed.
pub const EXTENSIONS: [&str; 7] = [
    "rules",
    "todo",
    "project-map",
    "brake",
    "two-of-three",
    "permissions",
    "redact",
];

/// Writes a copy of the program that carries extensions.
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
