//! `cargo xtask bench`: measures what acp-chain costs.
//!
//! By default, it runs the harness in `bench/`, over real pipes, beside a byte relay and the reference conductor.
//! `--serve` puts servers under load. `--inspector` measures the page of `acp-chain inspect` in a browser. `--micro`
//! and `--instructions` measure parts of the host. All programs are built as users build them: optimised, and without
//! test features.

mod inspector;
mod instructions;
mod pictures;
mod serve;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::make::{self, BuildScope};
use crate::peers;
use xtask::workspace::Workspace;

/// The components of the harness's chains.
const COMPONENTS: [&str; 9] = [
    "pass",
    "rules",
    "permissions",
    "redact",
    "brake",
    "two-of-three",
    "todo",
    "project-map",
    "shout-python",
];

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "these are flags")]
pub struct Options {
    /// Take only minutes, to check that everything works; the figures are orders of magnitude
    #[arg(long)]
    quick: bool,
    /// Measure only the relay and the subjects whose names end with this, as in `--only '3 forwarding'`; repeatable
    #[arg(long, conflicts_with_all = ["publish", "serve", "micro", "inspector", "instructions"])]
    only: Vec<String>,
    /// Measure in pairs with another commit: a checkout of it in which `cargo xtask bench --quick` ran
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["only", "publish", "serve", "micro", "inspector", "instructions"])]
    beside: Option<PathBuf>,
    /// Write the tables and plots into `docs/performance`, with `--serve` the tables into `docs/serve-benchmark.md`, or
    /// with `--inspector` the tables and pictures into `docs/inspector.md`
    #[arg(long, conflicts_with = "quick")]
    publish: bool,
    /// Measure `acp-chain serve`, beside a server built on the reference crate
    #[arg(long)]
    serve: bool,
    /// With `--serve`: measure replicas with a store in `PostgreSQL` instead, beside one server without
    #[arg(long, requires = "serve")]
    replicas: bool,
    /// With `--serve`: the number of idle connections; fewer if files or memory run out
    #[arg(long, requires = "serve", default_value_t = 10_000)]
    idle: usize,
    /// Measure the parts of the host individually
    #[arg(long, conflicts_with_all = ["quick", "publish", "serve"])]
    micro: bool,
    /// Measure the page of `acp-chain inspect` with 100,000 hops, in Chromium, beside the reference's viewer; and take
    /// pictures of it
    #[arg(long, conflicts_with_all = ["quick", "serve", "micro"])]
    inspector: bool,
    /// Count the instructions for one message, and fail if they rose. Needs valgrind
    #[arg(long, conflicts_with_all = ["quick", "publish", "serve", "micro", "inspector"])]
    instructions: bool,
    /// With `--instructions`: allow these counts from now on
    #[arg(long, requires = "instructions")]
    accept: bool,
}

/// Builds what is missing and measures.
pub fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    if options.instructions {
        return instructions::run(workspace, options.accept);
    }
    if options.inspector {
        return inspector::run(workspace, options.publish);
    }
    if options.serve {
        return serve::run(workspace, options);
    }
    if options.micro {
        micro(workspace)
    } else {
        harness(workspace, options)
    }
}

fn harness(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    build_components(workspace, &COMPONENTS)?;
    let [conductor, native] = peers::fetch_to_measure(workspace)?;
    build_programs(workspace)?;
    let mut harness = Command::new(workspace.target("dist/acp-chain-bench"));
    for (option, path) in [
        ("--conductor", conductor),
        ("--native", native),
        ("--recordings", workspace.path("tests/recordings")),
    ] {
        harness.arg(option).arg(path);
    }
    common(workspace, &mut harness);
    if options.quick {
        harness.arg("--quick");
    }
    if let Some(folder) = &options.beside {
        let [program, components] = ["dist/acp-chain", "components"].map(|name| {
            let path = folder.join("target").join(name);
            path.canonicalize().with_context(|| {
                let path = path.display();
                format!("{path} is missing: run `cargo xtask bench --quick` in that checkout")
            })
        });
        harness.arg("--before").arg(program?);
        harness.arg("--components-before").arg(components?);
    }
    for only in &options.only {
        harness.arg("--only").arg(only);
    }
    if options.publish {
        harness
            .arg("--publish")
            .arg(workspace.path("docs/performance"));
    }
    xtask::follow(&mut harness)
}

/// Adds the options that both harnesses take.
fn common(workspace: &Workspace, harness: &mut Command) {
    for (option, path) in [
        ("--program", workspace.target("dist/acp-chain")),
        ("--components", workspace.target("components")),
        ("--out", workspace.target("bench")),
    ] {
        harness.arg(option).arg(path);
    }
    if let Some(commit) = workspace.commit() {
        harness.arg("--commit").arg(commit);
    }
}

fn micro(workspace: &Workspace) -> Result<ExitCode> {
    build_components(workspace, &["pass"])?;
    let mut bench = workspace.distributed("bench --package acp-chain --bench parts");
    xtask::follow(bench.env("ACP_CHAIN_COMPONENTS", workspace.target("components")))
}

/// Builds the program and the harness.
fn build_programs(workspace: &Workspace) -> Result<()> {
    // Separately: a common build would unify the features of their dependencies.
    build_program(workspace, "acp-chain-cli")?;
    build_program(workspace, "acp-chain-bench")
}

fn build_program(workspace: &Workspace, package: &str) -> Result<()> {
    let mut build = workspace.distributed(&format!("build --package {package}"));
    workspace.run(&format!("{package}, optimised"), &mut build)
}

fn build_components(workspace: &Workspace, names: &[&str]) -> Result<()> {
    make::components(workspace, BuildScope::Tests, names).map(drop)
}
