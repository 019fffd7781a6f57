//! `cargo xtask bench --instructions`: how many instructions the host needs for one message, by
//! valgrind, held against `bench/instructions.toml`.
//!
//! Instructions do not depend on what else the machine does. Those of the start are not counted:
//! each program runs with a number of messages and with twice as many, and the difference counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::progress::{Progress, Step};
use crate::workspace::{Workspace, cargo};

/// The file of what is allowed.
const ALLOWED: &str = "bench/instructions.toml";

/// By how much of it the count may be higher.
const TOLERANCE: f64 = 0.03;

/// What is counted: a message's kind, through how many proxies.
const COUNTED: [(&str, &str, usize); 4] = [
    ("update-through-none", "update", 0),
    ("update-through-3", "update", 3),
    ("request-through-none", "request", 0),
    ("request-through-3", "request", 3),
];

/// Messages of the shorter run.
const MESSAGES: u64 = 2000;

/// Counts, and tells. Fails if a count is too high, unless it is to be accepted.
pub fn run(workspace: &Workspace, progress: &Progress, accept: bool) -> Result<ExitCode> {
    let valgrind = Command::new("valgrind").arg("--version").output();
    ensure!(
        valgrind.is_ok_and(|output| output.status.success()),
        "valgrind is not installed; with Debian or Ubuntu: apt-get install valgrind"
    );
    let program = progress.step("the way of a message, optimised", |_| build(workspace))?;
    let counts = progress.step("instructions", |step| {
        let count = |(name, what, hops): &(_, &str, usize)| {
            let once = collect(workspace, step, &program, what, *hops, MESSAGES)?;
            let twice = collect(workspace, step, &program, what, *hops, MESSAGES * 2)?;
            Ok((*name, (twice - once) / MESSAGES))
        };
        COUNTED.iter().map(count).collect::<Result<Vec<_>>>()
    })?;
    let file = workspace.path(ALLOWED);
    if accept {
        write(&file, &counts)?;
    }
    tell(&counts, &read(&file)?)
}

/// What a message passes.
const PASSED: [&str; 8] = [
    "acp-chain",
    "acp-chain-channel",
    "acp-chain-conductor",
    "acp-chain-mcp",
    "acp-chain-powers",
    "acp-chain-rpc",
    "acp-chain-sandbox",
    "acp-chain-system",
];

/// That is optimised, each crate as a whole, so that the count does not depend on how it is split up; what
/// it depends on is what the tests have built already, which saves minutes.
const OPTIMISED: [&str; 4] = [
    "opt-level=3",
    "codegen-units=1",
    "debug-assertions=false",
    "overflow-checks=false",
];

/// The program that is run, from what cargo says it has built.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--bench", "instructions"]);
    build.arg("--message-format=json-render-diagnostics");
    for option in OPTIMISED {
        for package in PASSED {
            build.arg(format!("--config=profile.dev.package.{package}.{option}"));
        }
    }
    let output = build
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(workspace.path(""))
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(
        output.status.success(),
        "cargo build ended with {}",
        output.status
    );
    let output = String::from_utf8(output.stdout)?;
    let messages = output.lines().map(serde_json::from_str::<Value>);
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    let program = messages.iter().find_map(|message| {
        let ours = message["target"]["name"] == "instructions";
        message["executable"].as_str().filter(|_| ours)
    });
    Ok(program.context("cargo names no program")?.into())
}

/// The instructions of one run.
fn collect(
    workspace: &Workspace,
    step: &Step,
    program: &Path,
    what: &str,
    hops: usize,
    messages: u64,
) -> Result<u64> {
    let folder = workspace.target("bench/callgrind");
    fs::create_dir_all(&folder)?;
    let name = format!("{what}-{hops}-{messages}");
    let log = folder.join(format!("{name}.log"));
    let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
    step.run(
        Command::new("valgrind")
            .arg("--tool=callgrind")
            .arg(option("callgrind-out-file", &folder.join(name)))
            .arg(option("log-file", &log))
            .arg(program)
            .args([what, &hops.to_string(), &messages.to_string()]),
    )?;
    let log = fs::read_to_string(&log)?;
    let collected = log.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.context("callgrind does not say what it has collected")?;
    Ok(count.trim().parse()?)
}

fn read(file: &Path) -> Result<BTreeMap<String, u64>> {
    let text = fs::read_to_string(file)?;
    toml::from_str(&text).with_context(|| format!("{} is not what it was", file.display()))
}

fn write(file: &Path, counts: &[(&str, u64)]) -> Result<()> {
    let mut text = "\
# Instructions of the host for one message, without those of sandboxes. They may rise by 3 %.
# `cargo xtask bench --instructions --accept` writes this anew.
"
    .to_owned();
    for (name, count) in counts {
        let _ = writeln!(text, "{name} = {count}");
    }
    Ok(fs::write(file, text)?)
}

/// Prints the counts beside what is allowed; succeeds if none is higher.
fn tell(counts: &[(&str, u64)], allowed: &BTreeMap<String, u64>) -> Result<ExitCode> {
    let mut too_many = Vec::new();
    for (name, count) in counts {
        let was = allowed.get(*name);
        let was = *was.with_context(|| format!("{ALLOWED} lacks {name}; --accept adds it"))?;
        let rise = rise(was, *count);
        println!("{name:<24}{count:>8}  {:>+7.2} %", rise * 100.0);
        if rise > TOLERANCE {
            too_many.push(*name);
        }
    }
    if too_many.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "\n{} became dearer by more than {:.0} %. If that is what it is worth: \
         cargo xtask bench --instructions --accept",
        too_many.join(", "),
        TOLERANCE * 100.0
    );
    Ok(ExitCode::FAILURE)
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn rise(was: u64, is: u64) -> f64 {
    is as f64 / was as f64 - 1.0
}
