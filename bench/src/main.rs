//! The harness: `cargo xtask bench` builds the dependencies and starts it.

#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_bench::measures::{self, Effort, beside};
use acp_chain_bench::plots;
use acp_chain_bench::report::{self, Report};
use acp_chain_bench::subjects::{Collector, Places, powers, printed_to};
use anyhow::{Context, Result};
use clap::Parser;

/// Measures acp-chain beside a relay and the reference conductor.
#[derive(Parser)]
struct Cli {
    /// The program acp-chain
    #[arg(long)]
    program: PathBuf,
    /// The folder of the components
    #[arg(long)]
    components: PathBuf,
    /// The reference conductor
    #[arg(long)]
    conductor: PathBuf,
    /// A native proxy for it
    #[arg(long)]
    native: PathBuf,
    /// The folder with recordings of real agents
    #[arg(long)]
    recordings: PathBuf,
    /// The folder for all output
    #[arg(long)]
    out: PathBuf,
    /// The commit that is measured, and its day
    #[arg(long)]
    commit: Option<String>,
    /// A folder for the tables and the plots
    #[arg(long)]
    publish: Option<PathBuf>,
    /// Run a short measurement
    #[arg(long)]
    quick: bool,
    /// Measure only the relay and the subjects whose names end with this
    #[arg(long)]
    only: Vec<String>,
    /// Compare the program with this earlier one instead
    #[arg(long, requires = "components_before")]
    before: Option<PathBuf>,
    /// The components of the earlier program
    #[arg(long)]
    components_before: Option<PathBuf>,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let scratch = acp_chain_bench::scratch(&cli.out)?;
    // The agent and the floors are next to this program.
    let us = env::current_exe()?;
    let program = installed(&cli.program, &scratch)?;
    let places = Places {
        powers: powers(&program)?,
        program,
        components: cli.components,
        agent: us.with_file_name("bench-agent"),
        relay: us.with_file_name("bench-relay"),
        bare: us.with_file_name("bench-bare"),
        conductor: cli.conductor,
        native: cli.native,
        recordings: cli.recordings,
        collector: Collector::start()?,
        scratch,
    };
    let effort = if cli.quick {
        Effort::QUICK
    } else {
        Effort::WHOLE
    };
    let log = || printed_to(&places.scratch);
    if let Some((program, components)) = cli.before.zip(cli.components_before) {
        let scratch = places.scratch.join("before");
        fs::create_dir_all(&scratch)?;
        let program = installed(&program, &scratch)?;
        let before = Places {
            powers: powers(&program)?,
            program,
            components,
            scratch,
            ..places.clone()
        };
        let all = beside::run(&places, &before, &effort).with_context(log)?;
        println!("{}", report::beside(&all));
        return Ok(());
    }
    let outcome = measures::run(&places, &effort, &cli.only).with_context(log)?;
    let report = Report::new(outcome, cli.quick, cli.commit);
    let tables = report::markdown(&report);
    println!("{tables}");

    let json = cli.out.join("report.json");
    fs::write(&json, serde_json::to_vec_pretty(&report)?)?;
    let folder = cli.publish.as_ref().unwrap_or(&cli.out);
    fs::create_dir_all(folder)?;
    plots::draw(&report, folder)?;
    if let Some(folder) = &cli.publish {
        report::publish(&folder.with_extension("md"), "--publish", &tables)?;
    }
    println!(
        "All figures: {}; plots: {}",
        json.display(),
        folder.display()
    );
    Ok(())
}

/// Copies a program, as an installation does: a file written by the linker starts up to a tenth slower, probably since
/// its pages entered the page cache out of order.
fn installed(program: &Path, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join("acp-chain");
    fs::copy(program, &copy).with_context(|| format!("{} cannot be copied", program.display()))?;
    Ok(copy)
}
