//! `cargo xtask book` copies files and the commands' help texts into the pages of the book that show them; `cargo xtask
//! types` regenerates the types of the SDKs; `cargo xtask tutorial` follows the tutorial as on a machine without
//! toolchains. Tests do the work; without the variable set here, they only compare the files.

use std::process::ExitCode;

use anyhow::Result;

use xtask::workspace::Workspace;

use crate::schema;

/// Regenerates the pages.
pub fn write(workspace: &Workspace) -> Result<ExitCode> {
    let args = "--lib --test checkout -- page --skip=languages::";
    test(workspace, args, "ACP_CHAIN_BOOK")
}

/// Regenerates the protocol's schemas, and the types of the SDKs.
pub fn write_types(workspace: &Workspace) -> Result<ExitCode> {
    schema::write(workspace)?;
    test(workspace, "--test types", "ACP_CHAIN_TYPES")
}

/// Follows the tutorial in each language, one after the other, and prints how long each took.
pub fn walk(workspace: &Workspace) -> Result<ExitCode> {
    let args = "--test authoring -- author::tutorial --nocapture --test-threads=1";
    test(workspace, args, "ACP_CHAIN_BARE")
}

/// Runs tests with a variable set that changes what they do.
fn test(workspace: &Workspace, args: &str, variable: &str) -> Result<ExitCode> {
    let mut test = workspace.cargo(&format!("test --workspace --locked {args}"));
    xtask::follow(test.env(variable, "1"))
}
