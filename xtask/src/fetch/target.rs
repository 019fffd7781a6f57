//! The standard library for other targets.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::printed;
use crate::progress::Step;
use crate::workspace::Workspace;

/// Has cargo build for a target, with this C compiler for the target, which also links.
pub fn compile_for<'c>(
    cargo: &'c mut Command,
    target: &str,
    compiler: impl AsRef<OsStr>,
) -> &'c mut Command {
    let variable = target.replace('-', "_");
    let linker = format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase());
    cargo.args(["--target", target]).env(linker, &compiler);
    cargo.env(format!("CC_{variable}"), compiler)
}

/// Installs the standard library for a target, by name, as some set-ups disable installing on demand.
pub fn add(workspace: &Workspace, step: &Step, target: &str) -> Result<()> {
    let mut rustc = Command::new("rustc");
    let library = printed(rustc.args(["--print=target-libdir", "--target", target]))?;
    if Path::new(library.trim()).exists() {
        return Ok(());
    }
    workspace.progress.say(&format!(
        "The target {target} is missing: rustup target add {target}"
    ));
    step.run(Command::new("rustup").args(["target", "add", target]))
}
