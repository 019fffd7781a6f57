//! Programs in Rust that are no part of the workspace.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::progress::Progress;
use crate::stamp::Stamp;
use crate::workspace::{Workspace, cargo};

/// How they are built, and where they go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Without optimisation or debug information, and with dependencies in common, into
    /// `target/peers`: they compile several times faster, and no test waits for them.
    ForTests,
    /// As their users build them, into `target/bench`.
    ToMeasure,
}

/// Installs one with `cargo install` and these arguments: a crate and its version, or the path of a
/// folder of the checkout, whose files are then given as `sources`. Returns the program.
pub fn install(
    workspace: &Workspace,
    progress: &Progress,
    build: Build,
    program: &str,
    args: &[&str],
    sources: &[&Path],
) -> Result<PathBuf> {
    let root = workspace.target(match build {
        Build::ForTests => "peers",
        Build::ToMeasure => "bench",
    });
    let product = root.join("bin").join(program);
    let mut stamp = Stamp::new(workspace, &product).on(args);
    for source in sources {
        stamp = stamp.on_path(source)?;
    }
    if stamp.is_current() {
        return Ok(product);
    }
    progress.step(program, |step| {
        let mut install = cargo();
        install.args(["install", "--locked", "--force", "--root"]);
        install.arg(&root).args(args);
        if build == Build::ForTests {
            install
                .arg("--debug")
                .env("CARGO_PROFILE_DEV_DEBUG", "false");
        }
        step.run(
            install
                .env("CARGO_TARGET_DIR", root.join("build"))
                .current_dir(workspace.path("")),
        )
    })?;
    stamp.set()?;
    Ok(product)
}
