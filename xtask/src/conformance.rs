//! `cargo xtask conformance`: runs the public MCP conformance suite, and writes into the book what passes. The test
//! program `conformance` does the work; in other runs, it compares the book.

use anyhow::Result;

use crate::make::{self, BuildScope};
use crate::peers;
use xtask::workspace::Workspace;

/// The variable with the extent of the test, and whether it writes.
const EXTENT: &str = "ACP_CHAIN_CONFORMANCE";

/// Runs all of the suite, and writes what passes.
pub fn run(workspace: &Workspace) -> Result<()> {
    run_suite(workspace, "write")?;
    println!("{}", workspace.path("docs/conformance.md").display());
    Ok(())
}

/// Fetches and builds what the suite needs, and runs it in all versions of MCP.
pub fn run_suite(workspace: &Workspace, extent: &str) -> Result<()> {
    peers::fetch_with(workspace)?;
    make::components(workspace, BuildScope::Tests, &[])?;
    workspace.run("workspace", &mut workspace.cargo("build --workspace"))?;
    let mut test = workspace.cargo("test --workspace --test conformance");
    workspace.run("MCP conformance suite", test.env(EXTENT, extent))
}
