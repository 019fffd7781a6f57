//! Zig, as a compiler of C for any system: it brings along what C needs there.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::python;
use crate::progress::Progress;
use crate::workspace::Workspace;

/// An installed one.
pub struct Zig {
    /// The Python whose package it is.
    pub python: PathBuf,
    cache: PathBuf,
}

/// The file that pins its version.
pub fn requirements(workspace: &Workspace) -> PathBuf {
    workspace.path("tests/examples/c/requirements.txt")
}

/// Installs it.
pub fn install(workspace: &Workspace, progress: &Progress) -> Result<Zig> {
    let toolchain = workspace.target("toolchains/c");
    let programs = python::install(workspace, progress, &requirements(workspace), &toolchain)?;
    Ok(Zig {
        python: programs.join("python"),
        cache: workspace.compiled("zig"),
    })
}

impl Zig {
    /// The compiler.
    pub fn cc(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "ziglang", "cc"]);
        self.cached(&mut command);
        command
    }

    /// Tells it, or whatever runs it, where to keep what it has compiled.
    pub fn cached<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("ZIG_GLOBAL_CACHE_DIR", &self.cache)
    }
}
