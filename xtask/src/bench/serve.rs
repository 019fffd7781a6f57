//! `acp-chain serve` under load, beside a server built on the reference crate.

use std::process::{Command, ExitCode};

use anyhow::Result;

use super::{Options, build_components, build_programs, common};
use crate::peers;
use xtask::workspace::Workspace;

/// The components of the chains.
const COMPONENTS: [&str; 2] = ["rules", "redact"];

pub fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    let mut harness = harness(workspace, options);
    let idle = format!("--idle {}", options.idle);
    let size = match (options.replicas, options.quick) {
        (true, true) => "--busy 20 --sessions 5 --seconds 3 --few",
        (true, false) => "--busy 200 --sessions 50",
        (false, true) => "--idle 200 --busy 50 --seconds 3",
        (false, false) => &*idle,
    };
    harness.args(size.split(' '));
    if options.replicas {
        let postgres = peers::fetch_postgres(workspace)?;
        harness.arg("--postgres").arg(postgres);
    } else {
        build_components(workspace, &COMPONENTS)?;
        let servers = peers::fetch_servers(workspace)?;
        harness
            .arg("--reference")
            .arg(&servers.reference)
            .args(["--reference-version", &servers.version])
            .arg("--h2load")
            .arg(&servers.h2load);
    }
    build_programs(workspace)?;
    xtask::follow(&mut harness)
}

fn harness(workspace: &Workspace, options: &Options) -> Command {
    let mut harness = Command::new(workspace.target("dist/bench-serve"));
    common(workspace, &mut harness);
    if options.publish {
        harness
            .arg("--publish")
            .arg(workspace.path("docs/serve-benchmark.md"));
    }
    harness
}
