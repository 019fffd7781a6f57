//! `cargo xtask install`: the program with the extensions that come with it, where cargo installs programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::guests;
use crate::progress::Progress;
use crate::workspace::{Workspace, cargo};

/// What the program is called.
const PROGRAM: &str = if cfg!(windows) {
    "acp-chain.exe"
} else {
    "acp-chain"
};

/// The extensions that come with the program, in the order in which they are listed.
pub const EXTENSIONS: [&str; 5] = ["rules", "todo", "project-map", "permissions", "redact"];

/// Builds the program and its extensions, and puts it into `bin` of the folder, or of cargo's own.
pub fn run(workspace: &Workspace, root: Option<PathBuf>) -> Result<()> {
    let bin = root.map_or_else(cargo_root, Ok)?.join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("{} cannot be made", bin.display()))?;
    let installed = bin.join(PROGRAM);
    build(workspace, &Progress::new(workspace), "release", &installed)?;
    println!("{}", installed.display());
    if !is_searched(&bin) {
        println!("{} is not in your PATH", bin.display());
    }
    Ok(())
}

/// Builds the program by a profile of cargo's, and lets it make one that carries the extensions.
pub fn build(workspace: &Workspace, progress: &Progress, profile: &str, to: &Path) -> Result<()> {
    let extensions = guests::build_with(workspace, progress, &EXTENSIONS.map(str::to_owned))?;
    progress.step(&format!("acp-chain, by the profile {profile}"), |step| {
        step.run(
            cargo()
                .args(["build", "--profile", profile, "--locked"])
                .args(["--package", "acp-chain", "--bin", "acp-chain"])
                .current_dir(workspace.path("")),
        )
    })?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    bundle(&workspace.target(profile).join(PROGRAM), &extensions, to)
}

/// Lets a program make one that carries extensions.
pub fn bundle(program: &Path, extensions: &[PathBuf], to: &Path) -> Result<()> {
    let status = Command::new(program)
        .arg("bundle")
        .args(extensions)
        .arg("--output")
        .arg(to)
        .status()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    anyhow::ensure!(status.success(), "the extensions were not added");
    Ok(())
}

/// Where cargo installs programs.
fn cargo_root() -> Result<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from);
    let root = set("CARGO_INSTALL_ROOT").or_else(|| set("CARGO_HOME"));
    let root = root.or_else(|| Some(env::home_dir()?.join(".cargo")));
    root.context("there is no home folder: say where with --root")
}

fn is_searched(bin: &Path) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder == bin)
}
