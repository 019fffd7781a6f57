//! `cargo xtask test`: everything that the tests need, then `cargo test` over the workspace.

use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::progress::Progress;
use crate::workspace::{Workspace, cargo};
use crate::{guests, peers, reproducible, secrets};

/// Ends as `cargo test` does, whose output comes last.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let progress = Progress::new(workspace);
    // Two heavy builds at once at most: ours and that of the peers.
    thread::scope(|scope| {
        let peers = scope.spawn(|| peers::fetch_with(workspace, &progress));
        let ours = guests::build_with(workspace, &progress, &[])
            .and_then(|_| build_workspace(workspace, &progress));
        let peers = peers
            .join()
            .map_err(|_| anyhow!("fetching the peers panicked"))?;
        ours.and(peers)
    })?;
    test_typed(workspace, &progress)?;
    secrets::compare_with(workspace, &progress)?;
    reproducible::check_with(workspace, &progress)?;
    if !args.is_empty() {
        return cargo_test(workspace, args);
    }
    // The examples in the documentation first: most crates have none, and the last lines of the
    // output are to tell of tests.
    let documented = cargo_test(workspace, &["--doc".to_owned()])?;
    if documented != ExitCode::SUCCESS {
        return Ok(documented);
    }
    cargo_test(workspace, &["--tests".to_owned()])
}

fn cargo_test(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let status = cargo()
        .args(["test", "--workspace"])
        .args(args)
        .current_dir(workspace.path(""))
        .status()
        .context("cargo test could not be started")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The SDK with its optional feature, which nothing else in the workspace turns on: it would change
/// the features of dependencies that the host shares.
fn test_typed(workspace: &Workspace, progress: &Progress) -> Result<()> {
    progress.step("the SDK's typed messages", |step| {
        let mut test = cargo();
        test.args([
            "test",
            "--package",
            "acp-chain-proxy",
            "--features",
            "typed",
        ]);
        step.run(test.current_dir(workspace.path("")))
    })
}

/// The programs, which the tests start, and the tests themselves.
fn build_workspace(workspace: &Workspace, progress: &Progress) -> Result<()> {
    progress.step("workspace and its tests", |step| {
        let mut build = cargo();
        build.args(["build", "--workspace", "--all-targets"]);
        step.run(build.current_dir(workspace.path("")))
    })
}
