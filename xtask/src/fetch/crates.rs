//! Programs in Rust that are no part of the workspace.

use std::path::Path;

use anyhow::Result;

use crate::progress::Progress;
use crate::stamp::Stamp;
use crate::workspace::{Workspace, cargo};

/// Installs one into `target/peers/bin` with `cargo install` and these arguments: a crate and its
/// version, or the path of a folder of the checkout, whose files are then given as `sources`.
pub fn install(
    workspace: &Workspace,
    progress: &Progress,
    program: &str,
    args: &[&str],
    sources: &[&Path],
) -> Result<()> {
    let root = workspace.target("peers");
    let mut stamp = Stamp::new(workspace, &root.join("bin").join(program)).on(args);
    for source in sources {
        stamp = stamp.on_path(source)?;
    }
    if stamp.is_current() {
        return Ok(());
    }
    // Built without optimisation or debug information, and with dependencies in common: they
    // compile several times faster, and no test waits for them.
    progress.step(program, |step| {
        step.run(
            cargo()
                .args(["install", "--locked", "--debug", "--force", "--root"])
                .arg(&root)
                .args(args)
                .env("CARGO_TARGET_DIR", root.join("build"))
                .env("CARGO_PROFILE_DEV_DEBUG", "false")
                .current_dir(workspace.path("")),
        )
    })?;
    stamp.set()
}
