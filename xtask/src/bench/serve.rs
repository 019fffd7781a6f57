//! `acp-chain serve` under load, beside a server built on the reference crate.

use std::process::{Command, ExitCode};

use anyhow::Result;

use super::{Options, build_components, build_programs, ended};
use crate::peers;
use xtask::progress::Progress;
use xtask::workspace::Workspace;

/// The components of the chains.
const COMPONENTS: [&str; 2] = ["rules", "redact"];

/// Measures replicas with a store.
fn run_replicas(workspace: &Workspace, progress: &Progress, options: &Options) -> Result<ExitCode> {
    let postgres = peers::fetch_postgres(workspace, progress)?;
    build_programs(workspace, progress)?;
    let mut harness = harness(workspace, options);
    harness.arg("--postgres").arg(postgres);
    if options.quick {
        harness.args(["--busy", "20", "--sessions", "5", "--seconds", "3", "--few"]);
    } else {
        harness.args(["--busy", "200", "--sessions", "50"]);
    }
    ended(&mut harness)
}

pub fn run(workspace: &Workspace, progress: &Progress, options: &Options) -> Result<ExitCode> {
    if options.replicas {
        return run_replicas(workspace, progress, options);
    }
    build_components(workspace, progress, &COMPONENTS)?;
    let servers = peers::fetch_servers(workspace, progress)?;
    build_programs(workspace, progress)?;
    let mut harness = harness(workspace, options);
    harness
        .arg("--components")
        .arg(workspace.target("components"))
        .arg("--reference")
        .arg(&servers.reference)
        .args(["--reference-version", &servers.version])
        .arg("--h2load")
        .arg(&servers.h2load);
    if options.quick {
        harness.args(["--idle", "200", "--busy", "50", "--seconds", "3"])
    } else {
        harness.args(["--idle", &options.idle.to_string()])
    };
    ended(&mut harness)
}

fn harness(workspace: &Workspace, options: &Options) -> Command {
    let mut harness = Command::new(workspace.target("dist/bench-serve"));
    harness
        .arg("--program")
        .arg(workspace.target("dist/acp-chain"))
        .arg("--out")
        .arg(workspace.target("bench"));
    if let Some(commit) = workspace.commit() {
        harness.arg("--commit").arg(commit);
    }
    if options.publish {
        harness
            .arg("--publish")
            .arg(workspace.path("docs/serve-benchmark.md"));
    }
    harness
}
