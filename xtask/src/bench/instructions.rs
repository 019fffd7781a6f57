//! `cargo xtask bench --instructions`: how many instructions the host needs for one message, by valgrind, compared
//! with `bench/instructions.toml`.
//!
//! Instruction counts do not depend on the machine's load. The start does not count: each program runs with a number of
//! messages and with twice as many, and the difference counts. The thread that writes a trace does not count either, as
//! no message waits for it. How often it is woken depends on the scheduler, so with a trace the lowest of several runs
//! counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use xtask::progress::Step;
use xtask::workspace::{Workspace, cargo};
use xtask::{printed, verdict};

/// The file with the allowed counts.
const ALLOWED: &str = "bench/instructions.toml";

/// The fraction by which a count may rise.
const TOLERANCE: f64 = 0.03;

/// The cases: a kind of message, the number of proxies, and whether there is a trace, with an observer that passes over
/// the message, or with a listener.
const COUNTED: [(&str, &str, usize, &str); 8] = [
    ("update-through-none", "update", 0, "none"),
    ("update-through-3", "update", 3, "none"),
    ("update-through-3-unheard", "update", 3, "unheard"),
    ("update-through-3-observed", "update", 3, "observed"),
    ("update-through-3-traced", "update", 3, "heard"),
    ("request-through-none", "request", 0, "none"),
    ("request-through-3", "request", 3, "none"),
    ("request-through-3-traced", "request", 3, "heard"),
];

/// Messages of the shorter run, and how often each is repeated; with a trace, few enough that all of them fit into its
/// queue.
const PLAIN: (u64, usize) = (2000, 1);
const TRACED: (u64, usize) = (500, 5);

/// Counts, and reports. Fails if a count is too high, unless it is accepted.
pub fn run(workspace: &Workspace, accept: bool) -> Result<ExitCode> {
    let valgrind = Command::new("valgrind").arg("--version").output();
    ensure!(
        valgrind.is_ok_and(|output| output.status.success()),
        "valgrind is not installed; with Debian or Ubuntu: apt-get install valgrind"
    );
    let program = workspace.step("instruction counter, optimised", |_| build(workspace))?;
    let counts = workspace.step("instructions", |step| {
        let count = |(name, what, hops, trace): &(_, &str, usize, &str)| {
            let (messages, runs) = if *trace == "heard" { TRACED } else { PLAIN };
            let collect = |messages: u64| -> Result<u64> {
                let (hops, messages) = (hops.to_string(), messages.to_string());
                let run = |_| collect(workspace, step, &program, [what, &hops, &messages, trace]);
                let counts: Vec<_> = (0..runs).map(run).collect::<Result<_>>()?;
                counts.into_iter().min().context("there was no run")
            };
            Ok((
                *name,
                (collect(messages * 2)? - collect(messages)?) / messages,
            ))
        };
        COUNTED.iter().map(count).collect::<Result<Vec<_>>>()
    })?;
    let file = workspace.path(ALLOWED);
    if accept {
        write(&file, &counts)?;
    }
    Ok(tell(&counts, &read(&file)?))
}

/// The crates that a message passes.
const PASSED: &str = "\
    acp-chain-channel acp-chain-hops acp-chain-router acp-chain-powers acp-chain-rpc";

/// The options for these crates: each is optimised as a whole, so that the count does not depend on how it is split;
/// their dependencies are those built for the tests, which saves minutes.
const OPTIMISED: &str = "opt-level=3 codegen-units=1 debug-assertions=false overflow-checks=false";

/// Builds the program to run, whose path is in cargo's output.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--bench", "instructions"]);
    build.arg("--message-format=json-render-diagnostics");
    for option in OPTIMISED.split(' ') {
        for package in PASSED.split(' ') {
            build.arg(format!("--config=profile.dev.package.{package}.{option}"));
        }
    }
    build.env("CARGO_INCREMENTAL", "0");
    build.current_dir(workspace.path(""));
    let output = printed(build.stderr(Stdio::inherit()))?;
    let messages = output.lines().map(serde_json::from_str::<Value>);
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    let program = messages.iter().find_map(|message| {
        let ours = message["target"]["name"] == "instructions";
        message["executable"].as_str().filter(|_| ours)
    });
    Ok(program.context("cargo reports no program")?.into())
}

/// The instructions of the first thread of one run.
fn collect(workspace: &Workspace, step: &Step, program: &Path, args: [&str; 4]) -> Result<u64> {
    let folder = workspace.target("bench/callgrind");
    fs::create_dir_all(&folder)?;
    let name = args.join("-");
    let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
    step.run(
        Command::new("valgrind")
            .args(["--tool=callgrind", "--separate-threads=yes"])
            .arg(option("callgrind-out-file", &folder.join(&name)))
            .arg(option("log-file", &folder.join(format!("{name}.log"))))
            .arg(program)
            .args(args),
    )?;
    let first = fs::read_to_string(folder.join(format!("{name}-01")))?;
    let totals = first.lines().find_map(|line| line.strip_prefix("totals: "));
    let count = totals.context("callgrind printed no totals")?;
    Ok(count.trim().parse()?)
}

fn read(file: &Path) -> Result<BTreeMap<String, u64>> {
    let text = fs::read_to_string(file)?;
    toml::from_str(&text).with_context(|| format!("{} is malformed", file.display()))
}

fn write(file: &Path, counts: &[(&str, u64)]) -> Result<()> {
    let mut text = "\
# Instructions of the host for one message, without those of sandboxes. They may rise by 3 %.
# `cargo xtask bench --instructions --accept` rewrites this.
"
    .to_owned();
    for (name, count) in counts {
        let _ = writeln!(text, "{name} = {count}");
    }
    Ok(fs::write(file, text)?)
}

/// Prints the counts beside the allowed ones; succeeds if none is higher.
fn tell(counts: &[(&str, u64)], allowed: &BTreeMap<String, u64>) -> ExitCode {
    let mut too_many = Vec::new();
    let mut is_complete = true;
    for (name, count) in counts {
        let Some(was) = allowed.get(*name) else {
            println!("{name:<32}{count:>8}  not in {ALLOWED}; --accept adds it");
            is_complete = false;
            continue;
        };
        let rise = rise(*was, *count);
        println!("{name:<32}{count:>8}  {:>+7.2} %", rise * 100.0);
        if rise > TOLERANCE {
            too_many.push(*name);
        }
    }
    if !too_many.is_empty() {
        println!(
            "\n{} need over {:.0} % more instructions. To accept that: \
             cargo xtask bench --instructions --accept",
            too_many.join(", "),
            TOLERANCE * 100.0
        );
    }
    verdict(is_complete && too_many.is_empty())
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn rise(was: u64, is: u64) -> f64 {
    is as f64 / was as f64 - 1.0
}
