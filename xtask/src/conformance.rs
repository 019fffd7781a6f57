//! `cargo xtask conformance`: runs the public MCP conformance suite, and writes into the book what
//! passes. The test program `conformance`, which does the work, otherwise holds the book to that.

use anyhow::Result;

use crate::progress::Progress;
use crate::workspace::{Workspace, cargo};
use crate::{guests, peers};

/// Tells the test to write.
const WRITE: &str = "ACP_CHAIN_CONFORMANCE";

/// Fetches and builds what the test needs, and runs it.
pub fn run(workspace: &Workspace) -> Result<()> {
    let progress = Progress::new(workspace);
    peers::fetch_with(workspace, &progress)?;
    guests::build_with(workspace, &progress, &[])?;
    progress.step("workspace", |step| {
        let mut build = cargo();
        build.args(["build", "--workspace"]);
        step.run(build.current_dir(workspace.path("")))
    })?;
    progress.step("MCP conformance suite", |step| {
        let mut test = cargo();
        test.args(["test", "--workspace", "--test", "conformance"]);
        step.run(test.env(WRITE, "1").current_dir(workspace.path("")))
    })?;
    println!("{}", workspace.path("docs/conformance.md").display());
    Ok(())
}
