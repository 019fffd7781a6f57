//! `cargo xtask demo`: builds the program with the extensions of its demo, and runs `acp-chain demo`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use xtask::program::PROGRAM;
use xtask::workspace::Workspace;

use crate::install;

/// The extensions that `acp-chain demo` needs.
const EXTENSIONS: [&str; 3] = ["rules", "permissions", "redact"];

/// Runs the demo of this program, or of a new build.
pub fn run(workspace: &Workspace, program: Option<PathBuf>) -> Result<ExitCode> {
    let program = program.map_or_else(|| build(workspace), Ok)?;
    xtask::follow(Command::new(program).arg("demo"))
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target("demo");
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be created", folder.display()))?;
    let program = folder.join(PROGRAM);
    install::build(workspace, &EXTENSIONS, &program)?;
    Ok(program)
}
