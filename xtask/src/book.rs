//! `cargo xtask book`: copies the files that pages of the book show into them. The test `book`, which does
//! the work, otherwise holds the pages to that.

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::{Workspace, cargo};

/// Tells the test to write.
const WRITE: &str = "ACP_CHAIN_BOOK";

/// Makes the pages anew.
pub fn run(workspace: &Workspace) -> Result<ExitCode> {
    let mut test = cargo();
    test.args(["test", "--workspace", "--locked", "--test", "book"]);
    let status = test
        .env(WRITE, "1")
        .current_dir(workspace.path(""))
        .status()?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
