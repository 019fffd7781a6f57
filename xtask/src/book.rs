//! `cargo xtask book` copies the files that pages of the book show into them, and what the helps of the commands say;
//! `cargo xtask types` makes the types of the SDKs anew; and `cargo xtask tutorial` does what the tutorial says as on a
//! machine that has no toolchains. Tests do the work, and otherwise hold the files to it.

use std::process::ExitCode;

use anyhow::Result;

use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

use crate::schema;

/// Regenerates the pages.
pub fn write(workspace: &Workspace) -> Result<ExitCode> {
    let args = [
        "--lib",
        "--test",
        "checkout",
        "--",
        "page",
        "--skip=languages::",
    ];
    test(workspace, &args, "ACP_CHAIN_BOOK")
}

/// Regenerates the protocol's schemas, and the types of the SDKs.
pub fn write_types(workspace: &Workspace) -> Result<ExitCode> {
    schema::write(workspace, &Progress::new(workspace))?;
    test(workspace, &["--test", "types"], "ACP_CHAIN_TYPES")
}

/// Does what the tutorial says, in one language after the other, and says how long each took.
pub fn walk(workspace: &Workspace) -> Result<ExitCode> {
    let args = [
        "--test",
        "authoring",
        "--",
        "author::tutorial",
        "--nocapture",
        "--test-threads=1",
    ];
    test(workspace, &args, "ACP_CHAIN_BARE")
}

/// Runs tests that do something else if a variable is set.
fn test(workspace: &Workspace, args: &[&str], variable: &str) -> Result<ExitCode> {
    let mut test = cargo();
    test.args(["test", "--workspace", "--locked"]).args(args);
    let status = test
        .env(variable, "1")
        .current_dir(workspace.path(""))
        .status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
