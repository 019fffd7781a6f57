//! Zig, as a C compiler for any system: it contains the headers and libraries of each.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::python;
use crate::workspace::Workspace;

/// An installed Zig.
pub struct Zig {
    /// The Python that has Zig as a package.
    pub python: PathBuf,
    cache: PathBuf,
}

/// The file that pins the version of Zig.
pub fn requirements(workspace: &Workspace) -> PathBuf {
    workspace.path("tests/examples/c/requirements.txt")
}

/// Installs Zig.
pub fn install(workspace: &Workspace) -> Result<Zig> {
    let toolchain = workspace.target("toolchains/c");
    let programs = python::install(workspace, &requirements(workspace), &toolchain)?;
    Ok(Zig {
        python: programs.join("python"),
        cache: workspace.compiled("zig"),
    })
}

impl Zig {
    /// The C compiler.
    pub fn cc(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "ziglang", "cc"]);
        self.cached(&mut command);
        command
    }

    /// Sets the cache folder of Zig for a command that runs it.
    pub fn cached<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("ZIG_GLOBAL_CACHE_DIR", &self.cache)
    }
}
