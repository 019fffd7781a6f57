//! `cargo xtask test`: builds what the tests need, runs `cargo test` on the workspace, and prints where the time went.

mod prerequisites;
mod times;

use std::io::{BufRead, BufReader, IsTerminal, pipe, stdout};
use std::process::{ExitCode, Stdio};
use std::{env, thread};

use anyhow::{Context, Result, anyhow};
use xtask::workspace::Workspace;

use crate::make::{self, BuildScope};
use crate::peers;
use times::Times;

/// How many tests of a program run at once per core. Tests that start programs mostly wait for these.
const BY_THEMSELVES: usize = 1;
const WITH_PROGRAMS: usize = 2;

/// The variable with the number of tests of one program that run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// Builds everything, and returns the outcome of `cargo test`.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    prerequisites::check()?;
    // Two heavy builds at once at most: ours and that of the peers.
    thread::scope(|scope| {
        let peers = scope.spawn(|| peers::fetch_with(workspace));
        let ours = build_ours(workspace);
        let peers = peers
            .join()
            .map_err(|_| anyhow!("fetching the peers panicked"))?;
        ours.and(peers)
    })?;
    test_typed(workspace)?;
    let mut times = Times::new(workspace.progress.times());
    let outcome = if args.is_empty() {
        test_all(workspace, &mut times)?
    } else {
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        cargo_test(workspace, &mut times, WITH_PROGRAMS, &args, print_line)?
    };
    eprint!("{times}");
    Ok(outcome)
}

/// Runs all tests.
///
/// Cargo runs one program after the other. The examples in the documentation and the unit tests, which are many small
/// programs, would leave a third of two cores idle: so they run beside the test programs, and are printed when they have
/// ended. The last lines are those of the test programs.
fn test_all(workspace: &Workspace, times: &mut Times) -> Result<ExitCode> {
    let mut times_of_small = Times::new(Vec::new());
    let (small, programs) = thread::scope(|scope| {
        let small = scope.spawn(|| test_small(workspace, &mut times_of_small));
        let args = ["--test", "*"];
        let programs = cargo_test(workspace, times, WITH_PROGRAMS, &args, print_line);
        (small.join(), programs)
    });
    times.add(times_of_small);
    let outcome = small.map_err(|_| anyhow!("running the unit tests panicked"))??;
    if outcome == ExitCode::SUCCESS {
        return programs;
    }
    eprintln!("examples or unit tests failed; their output is above, in that of the test programs");
    programs.and(Ok(outcome))
}

/// Runs the examples in the documentation, and the unit tests. Each output is printed at once.
fn test_small(workspace: &Workspace, times: &mut Times) -> Result<ExitCode> {
    let parts: [&[&str]; 2] = [&["--doc"], &["--lib", "--bins"]];
    for args in parts {
        let mut printed = String::new();
        let keep = |line: &str| {
            printed.push_str(line);
            printed.push('\n');
        };
        let tested = cargo_test(workspace, times, BY_THEMSELVES, args, keep);
        print!("{printed}");
        let outcome = tested?;
        if outcome != ExitCode::SUCCESS {
            return Ok(outcome);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_line(line: &str) {
    println!("{line}");
}

/// Runs `cargo test`, prints its output line by line, and records the times.
fn cargo_test(
    workspace: &Workspace,
    times: &mut Times,
    per_core: usize,
    args: &[&str],
    mut print: impl FnMut(&str),
) -> Result<ExitCode> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = env::var(THREADS).ok().and_then(|set| set.parse().ok());
    let threads = threads.unwrap_or(cores * per_core);
    let (output, input) = pipe()?;
    let mut test = workspace.cargo("test --workspace");
    test.args(args);
    if stdout().is_terminal() {
        test.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = test
        .env(THREADS, threads.to_string())
        .stdin(Stdio::null())
        // One pipe for both: cargo's line about a program comes before the output of its tests.
        .stdout(input.try_clone()?)
        .stderr(input)
        .spawn()
        .context("cargo test could not be started")?;
    // The command still owns ends of the pipe, so that reading would never end.
    drop(test);
    times.begin(threads);
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        print(&line);
        times.read(&line);
    }
    Ok(xtask::verdict(child.wait()?.success()))
}

/// Tests the examples of the SDK's optional feature, which only adds types: all other tests run without the feature.
/// Nothing else in the workspace enables the feature, as that would change the features of dependencies that the host
/// shares.
fn test_typed(workspace: &Workspace) -> Result<()> {
    let mut test = workspace.cargo("test --package acp-chain-proxy --features typed --doc");
    workspace.run("the SDK's typed messages", &mut test)
}

/// Builds the components, runs the checks that need only components, and builds the workspace.
fn build_ours(workspace: &Workspace) -> Result<()> {
    make::components(workspace, BuildScope::Tests, &[])?;
    make::run(workspace, BuildScope::Tests, ["secrets"])?;
    // `redact` has the most dependencies; `cargo xtask release-check` builds all extensions twice.
    let twice = ["reproducible", "redact"];
    make::run(workspace, BuildScope::Tests, twice)?;
    build_workspace(workspace)
}

/// Builds the programs that the tests start, and the tests.
fn build_workspace(workspace: &Workspace) -> Result<()> {
    // No benchmarks: the tests run none.
    let mut build = workspace.cargo("build --workspace --lib --bins --tests --examples");
    workspace.run("workspace and its tests", &mut build)
}
