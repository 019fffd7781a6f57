//! `cargo xtask test`: everything that the tests need, then `cargo test` over the workspace, and at the end where the time
//! went.

mod needs;
mod times;

use std::io::{BufRead, BufReader, IsTerminal, pipe, stdout};
use std::process::{ExitCode, Stdio};
use std::{env, thread};

use anyhow::{Context, Result, anyhow};
use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

use crate::make::{self, Beside};
use crate::peers;
use times::Times;

/// How many tests of a program run at once for each core. Those with other programs mostly wait for them.
const BY_THEMSELVES: usize = 1;
const WITH_PROGRAMS: usize = 2;

/// The variable by which the tests of one program are told how many run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// Ends as `cargo test` does, whose output comes last.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    needs::check()?;
    let progress = Progress::new(workspace);
    // Two heavy builds at once at most: ours and that of the peers.
    thread::scope(|scope| {
        let peers = scope.spawn(|| peers::fetch_with(workspace, &progress));
        let ours = build_ours(workspace, &progress);
        let peers = peers
            .join()
            .map_err(|_| anyhow!("fetching the peers panicked"))?;
        ours.and(peers)
    })?;
    test_typed(workspace, &progress)?;
    let mut times = Times::new(progress.times());
    let mut test = |per_core, args: &[&str]| cargo_test(workspace, &mut times, per_core, args);
    let outcome = if args.is_empty() {
        // The examples in the documentation first: most crates have none, and the last lines of the
        // output are to tell of tests.
        let parts: [(_, &[&str]); 3] = [
            (BY_THEMSELVES, &["--doc"]),
            (BY_THEMSELVES, &["--lib", "--bins"]),
            (WITH_PROGRAMS, &["--test", "*"]),
        ];
        let mut outcome = ExitCode::SUCCESS;
        for (per_core, args) in parts {
            outcome = test(per_core, args)?;
            if outcome != ExitCode::SUCCESS {
                break;
            }
        }
        outcome
    } else {
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        test(WITH_PROGRAMS, &args)?
    };
    eprint!("{times}");
    Ok(outcome)
}

/// Passes on what it prints, and takes down the times.
fn cargo_test(
    workspace: &Workspace,
    times: &mut Times,
    per_core: usize,
    args: &[&str],
) -> Result<ExitCode> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = env::var(THREADS).ok().and_then(|set| set.parse().ok());
    let threads = threads.unwrap_or(cores * per_core);
    let (output, input) = pipe()?;
    let mut test = cargo();
    test.args(["test", "--workspace"]).args(args);
    if stdout().is_terminal() {
        test.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = test
        .env(THREADS, threads.to_string())
        .current_dir(workspace.path(""))
        .stdin(Stdio::null())
        // One pipe for both: what is said of a program comes before what its tests say.
        .stdout(input.try_clone()?)
        .stderr(input)
        .spawn()
        .context("cargo test could not be started")?;
    // It still has its ends of the pipe, which would never end.
    drop(test);
    times.begin(threads);
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        times.read(&line);
    }
    Ok(if child.wait()?.success() {
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

/// Builds the components, checks what only they need, and builds the workspace.
fn build_ours(workspace: &Workspace, progress: &Progress) -> Result<()> {
    make::components(workspace, progress, Beside::Tests, &[])?;
    make::run(workspace, progress, Beside::Tests, ["secrets"])?;
    // The one with the most dependencies; `cargo xtask release-check` builds all of them twice.
    let twice = ["reproducible", "redact"];
    make::run(workspace, progress, Beside::Tests, twice)?;
    build_workspace(workspace, progress)
}

/// The programs, which the tests start, and the tests themselves.
fn build_workspace(workspace: &Workspace, progress: &Progress) -> Result<()> {
    progress.step("workspace and its tests", |step| {
        let mut build = cargo();
        build.args(["build", "--workspace", "--all-targets"]);
        step.run(build.current_dir(workspace.path("")))
    })
}
