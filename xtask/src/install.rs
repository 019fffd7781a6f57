//! `cargo xtask install`: installs the program with its extensions where cargo installs programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::program::{EXTENSIONS, PROGRAM, bundle};
use xtask::workspace::Workspace;

use crate::make::{self, BuildScope};

/// Builds the program with its extensions, and installs it into `bin` of this folder, or of cargo's own.
pub fn run(workspace: &Workspace, root: Option<PathBuf>) -> Result<()> {
    let bin = root.map_or_else(cargo_root, Ok)?.join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("{} cannot be created", bin.display()))?;
    let installed = bin.join(PROGRAM);
    build(workspace, &EXTENSIONS, &installed)?;
    println!("{}", installed.display());
    if !is_searched(&bin) {
        println!("{} is not in your PATH", bin.display());
    }
    Ok(())
}

/// Builds the program, and writes a copy with these extensions to a file.
pub fn build(workspace: &Workspace, extensions: &[&str], to: &Path) -> Result<()> {
    let components = make::components(workspace, BuildScope::Program, extensions)?;
    bundle(&workspace.target("release").join(PROGRAM), &components, to)
}

/// Where cargo installs programs.
fn cargo_root() -> Result<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from);
    let root = set("CARGO_INSTALL_ROOT").or_else(|| set("CARGO_HOME"));
    let root = root.or_else(|| Some(env::home_dir()?.join(".cargo")));
    root.context("there is no home folder: name a folder with --root")
}

fn is_searched(bin: &Path) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder == bin)
}
