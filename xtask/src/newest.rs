//! `cargo xtask newest`: checks that the workspace compiles without warnings with the newest stable Rust, and lists
//! what the newest schema of the protocol would add.
//!
//! It has its own rustup folder, so that the toolchains of the machine do not change.

use anyhow::Result;
use xtask::workspace::{Workspace, starting};

use crate::schema;

/// Installs or updates the newest Rust, and runs Clippy on everything.
pub fn check(workspace: &Workspace) -> Result<()> {
    schema::tell_newer(workspace)?;
    let rustup = || {
        let mut rustup = starting("rustup".as_ref());
        rustup.env("RUSTUP_HOME", workspace.target("newest/rustup"));
        rustup
    };
    workspace.step("the newest Rust", |step| {
        let mut install = rustup();
        install.args(["toolchain", "install", "stable", "--no-self-update"]);
        step.run(install.args(["--profile", "minimal", "--component", "clippy"]))
    })?;
    let version = xtask::printed(rustup().args(["run", "stable", "rustc", "--version"]))?;
    let mut clippy = rustup();
    clippy.args(["run", "stable", "cargo", "clippy"]);
    clippy.args(["--workspace", "--all-targets", "--locked", "--target-dir"]);
    clippy.arg(workspace.target("newest/build"));
    clippy.args(["--", "-D", "warnings"]);
    clippy.current_dir(workspace.path(""));
    workspace.run(&format!("Clippy of {}", version.trim()), &mut clippy)
}
