//! `cargo xtask conformance`: runs the public MCP conformance suite, and writes into the book what
//! passes. The test program `conformance`, which does the work, otherwise holds the book to that.

use anyhow::Result;

use crate::make::{self, Beside};
use crate::peers;
use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

/// Tells the test to write.
const WRITE: &str = "ACP_CHAIN_CONFORMANCE";

/// Fetches and builds what the test needs, and runs it.
pub fn run(workspace: &Workspace) -> Result<()> {
    let progress = Progress::new(workspace);
    peers::fetch_with(workspace, &progress)?;
    make::components(workspace, &progress, Beside::Tests, &[])?;
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
