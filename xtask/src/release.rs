//! `cargo xtask release-check`: checks what only a release needs. The tests check a small part of it: one extension,
//! and packages of the tested program.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use xtask::workspace::Workspace;

use crate::conformance;
use crate::dist;
use crate::make::{self, BuildScope};
use crate::portable;

/// The variable with the folder of the packages to install, instead of packages that the tests make.
const PACKAGES: &str = "ACP_CHAIN_PACKAGES";

/// Checks the program for all systems, builds all extensions and the program twice, packs the finished program twice,
/// installs the packages, and runs the conformance suite in all versions of MCP.
pub fn check(workspace: &Workspace) -> Result<()> {
    portable::check_program(workspace)?;
    make::run(workspace, BuildScope::Tests, ["reproducible"])?;
    let program = ["reproducible", "--program"];
    make::run(workspace, BuildScope::Tests, program)?;
    let packed = ["packages", "packages-again"].map(|name| workspace.target("dist").join(name));
    for folder in &packed {
        let options = dist::Options {
            out: Some(folder.clone()),
            ..dist::Options::default()
        };
        dist::run(workspace, options)?;
    }
    let read = |folder: &PathBuf| fs::read(folder.join("SHA256SUMS"));
    let [first, second] = packed.each_ref().map(read);
    ensure!(
        first? == second?,
        "{} and {} were packed from the same program, but differ",
        packed[0].display(),
        packed[1].display()
    );
    let mut test = workspace.cargo("test --workspace --test product dist::");
    workspace.run("installing the packages", test.env(PACKAGES, &packed[0]))?;
    conformance::run_suite(workspace, "all")
}
