//! The program as users get it, with its extensions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

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

/// Builds the program without extensions, with the profile `dist`.
pub fn build_to_distribute(workspace: &Workspace) -> Result<PathBuf> {
    let mut build = workspace.distributed("build --locked --package acp-chain-cli");
    workspace.run("acp-chain, with the profile dist", &mut build)?;
    Ok(workspace.target("dist").join(PROGRAM))
}

/// Writes a copy of the program that carries extensions.
pub fn bundle(program: &Path, extensions: &[PathBuf], to: &Path) -> Result<()> {
    run_bundle(Command::new(program).arg("bundle"), extensions, to)
}

/// Writes a copy of a program for a target, and any processor of it, that carries extensions. `ours` adds them: the
/// program is not run.
pub fn bundle_for(
    ours: &Path,
    program: &Path,
    target: &str,
    extensions: &[PathBuf],
    to: &Path,
) -> Result<()> {
    let mut bundle = Command::new(ours);
    bundle.args(["bundle", "--target", target, "--program"]);
    run_bundle(bundle.arg(program), extensions, to)
}

fn run_bundle(bundle: &mut Command, extensions: &[PathBuf], to: &Path) -> Result<()> {
    let program = bundle.get_program().to_string_lossy().into_owned();
    let status = bundle
        .args(extensions)
        .arg("--output")
        .arg(to)
        .status()
        .with_context(|| format!("{program} cannot be started"))?;
    ensure!(status.success(), "the extensions were not added");
    Ok(())
}
