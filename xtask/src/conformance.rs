//! `cargo xtask conformance`: runs the public MCP conformance suite, and writes into the book what passes. The test
//! program `conformance` does the work; in other runs, it compares the book.

use anyhow::Result;

use crate::make::{self, BuildScope};
use crate::peers;
use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

/// The variable with the extent of the test, and whether it writes.
const EXTENT: &str = "ACP_CHAIN_CONFORMANCE";

/// Runs all of the suite, and writes what passes.
pub fn run(workspace: &Workspace) -> Result<()> {
    run_suite(workspace, &Progress::new(workspace), "write")?;
    println!("{}", workspace.path("docs/conformance.md").display());
    Ok(())
}

/// Fetches and builds what the suite needs, and runs it in all versions of MCP.
pub fn run_suite(workspace: &Workspace, progress: &Progress, extent: &str) -> Result<()> {
    peers::fetch_with(workspace, progress)?;
    make::components(workspace, progress, BuildScope::Tests, &[])?;
    progress.step("workspace", |step| {
        let mut build = cargo();
        build.args(["build", "--workspace"]);
        step.run(build.current_dir(workspace.path("")))
    })?;
    progress.step("MCP conformance suite", |step| {
        let mut test = cargo();
        test.args(["test", "--workspace", "--test", "conformance"]);
        step.run(test.env(EXTENT, extent).current_dir(workspace.path("")))
    })
}
