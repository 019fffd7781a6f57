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
use xtask::progress::Progress;
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

/// The component for measuring the parts.
const PASS: [&str; 1] = ["pass"];

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
    let progress = Progress::new(workspace);
    if options.instructions {
        return instructions::run(workspace, &progress, options.accept);
    }
    if options.inspector {
        return inspector::run(workspace, &progress, options.publish);
    }
    if options.serve {
        return serve::run(workspace, &progress, options);
    }
    if options.micro {
        micro(workspace, &progress)
    } else {
        harness(workspace, &progress, options)
    }
}

fn harness(workspace: &Workspace, progress: &Progress, options: &Options) -> Result<ExitCode> {
    build_components(workspace, progress, &COMPONENTS)?;
    let [conductor, native] = peers::fetch_to_measure(workspace, progress)?;
    build_programs(workspace, progress)?;
    let mut harness = Command::new(workspace.target("dist/acp-chain-bench"));
    harness
        .arg("--program")
        .arg(workspace.target("dist/acp-chain"))
        .arg("--components")
        .arg(workspace.target("components"))
        .arg("--conductor")
        .arg(conductor)
        .arg("--native")
        .arg(native)
        .arg("--recordings")
        .arg(workspace.path("tests/recordings"))
        .arg("--out")
        .arg(workspace.target("bench"));
    if let Some(commit) = workspace.commit() {
        harness.arg("--commit").arg(commit);
    }
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
    ended(&mut harness)
}

fn micro(workspace: &Workspace, progress: &Progress) -> Result<ExitCode> {
    build_components(workspace, progress, &PASS)?;
    let mut bench = workspace.distributed();
    bench
        .args(["bench", "--profile", "dist", "--package", "acp-chain"])
        .args(["--bench", "parts"])
        .env("ACP_CHAIN_COMPONENTS", workspace.target("components"));
    ended(&mut bench)
}

/// Builds the program and the harness.
fn build_programs(workspace: &Workspace, progress: &Progress) -> Result<()> {
    // Separately: a common build would unify the features of their dependencies.
    build_program(workspace, progress, "acp-chain-cli")?;
    build_program(workspace, progress, "acp-chain-bench")
}

fn build_program(workspace: &Workspace, progress: &Progress, package: &str) -> Result<()> {
    progress.step(&format!("{package}, optimised"), |step| {
        let mut build = workspace.distributed();
        step.run(build.args(["build", "--profile", "dist", "--package", package]))
    })
}

fn build_components(workspace: &Workspace, progress: &Progress, names: &[&str]) -> Result<()> {
    make::components(workspace, progress, BuildScope::Tests, names).map(drop)
}

/// Runs a command with our standard output; succeeds if it does.
fn ended(command: &mut Command) -> Result<ExitCode> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("{program} could not be started"))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
