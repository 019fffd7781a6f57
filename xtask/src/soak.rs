//! `cargo xtask soak`: drives a chain for some minutes in which a proxy crashes now and then, to check that the host
//! neither grows nor leaves a request unanswered.
//!
//! Between our client and the tests' wild agent are three proxies: one that crashes on request, and is restarted each
//! time; one that holds messages for a while; and `redact`, their neighbour. Several sessions always have an open turn:
//! streams, permission requests, and turns cancelled in either way.

mod client;
mod report;
mod samples;
mod script;

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::host::{Host, text};
use crate::make::{self, BuildScope};
use client::Client;
use report::Report;
use samples::Samples;
use xtask::workspace::Workspace;

/// Builds what is missing, drives the chain, prints the counts, and succeeds if nothing grew and nothing is missing.
pub fn run(workspace: &Workspace, minutes: u64) -> Result<ExitCode> {
    make::components(workspace, BuildScope::Tests, &script::PROXIES)?;
    let mut build = workspace.cargo("build --workspace --bin acp-chain --bin wild-agent");
    workspace.run("acp-chain and its agent", &mut build)?;
    let program = workspace.target("debug/acp-chain");
    let folder = workspace.target("soak");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let (manifest, log) = (folder.join("acp-chain.toml"), folder.join("acp-chain.log"));
    fs::write(&manifest, script::manifest(&workspace.target("components")))?;
    let host = Host::launch(&[
        text(&program)?,
        "run".into(),
        "--log-file".into(),
        text(&log)?,
        "--manifest".into(),
        text(&manifest)?,
        "--".into(),
        text(&workspace.target("debug/wild-agent"))?,
    ])?;

    let time = Duration::from_secs(minutes * 60);
    let mut samples = Samples::of(host.id(), time);
    let counts = Client::new(host).drive(time, &mut samples)?;
    let log = fs::read_to_string(&log).context("acp-chain wrote no log")?;
    let report = Report::new(counts, &log, &samples);
    println!("{report}");
    println!("\nThe log: {}", folder.join("acp-chain.log").display());
    Ok(xtask::verdict(report.complaints().is_empty()))
}
