//! Servers under load: `cargo xtask bench --serve` builds the dependencies and starts it.

#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use acp_chain_bench::report::{self, Machine};
use acp_chain_bench::serve::failures::Failure;
use acp_chain_bench::serve::replicas::{self, Plan};
use acp_chain_bench::serve::report::Report;
use acp_chain_bench::serve::{self, Places, Size};
use acp_chain_bench::subjects::printed_to;
use anyhow::{Context, Result, bail};
use clap::Parser;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde::Serialize;

/// The memory of an agent, including the system's, in KiB, and a reserve.
const AGENT: usize = 1024;
const SPARE: usize = 4 << 20;

/// Measures servers of chains beside one built on the reference crate.
#[derive(Parser)]
struct Cli {
    /// The program acp-chain
    #[arg(long)]
    program: PathBuf,
    /// The folder of the components; like the next three, not needed for replicas
    #[arg(long, required_unless_present = "postgres")]
    components: Option<PathBuf>,
    /// The server built on the reference crate
    #[arg(long, required_unless_present = "postgres")]
    reference: Option<PathBuf>,
    /// The version of that crate
    #[arg(long, required_unless_present = "postgres")]
    reference_version: Option<String>,
    /// The program h2load
    #[arg(long, required_unless_present = "postgres")]
    h2load: Option<PathBuf>,
    /// The folder for all output
    #[arg(long)]
    out: PathBuf,
    /// The commit that is measured, and its day
    #[arg(long)]
    commit: Option<String>,
    /// A page for the tables
    #[arg(long)]
    publish: Option<PathBuf>,
    /// The number of idle connections
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// The number of busy connections
    #[arg(long, default_value_t = 500)]
    busy: usize,
    /// For how many seconds they are busy
    #[arg(long, default_value_t = 12)]
    seconds: u64,
    /// The folder of `initdb` and `postgres`: measures only replicas, with as many users as busy connections
    #[arg(long)]
    postgres: Option<PathBuf>,
    /// How many sessions each of these users has
    #[arg(long, default_value_t = 50)]
    sessions: usize,
    /// Measures two replicas only, and two failures
    #[arg(long)]
    few: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let scratch = acp_chain_bench::scratch(&cli.out)?;
    let files = files()?;
    if let Some(postgres) = cli.postgres {
        let plan = Plan {
            program: cli.program,
            agent: env::current_exe()?.with_file_name("bench-agent"),
            postgres,
            scratch,
            users: cli.busy,
            sessions: cli.sessions,
            time: Duration::from_secs(cli.seconds),
            // With the default, and with the shortest.
            lease: if cli.few { 10 } else { 15 },
            replicas: if cli.few { vec![2] } else { vec![1, 2, 4] },
            failures: if cli.few {
                Failure::FEW.to_vec()
            } else {
                Failure::ALL.to_vec()
            },
        };
        let report = replicas::run(&plan, cli.commit).await;
        let report = report.with_context(|| printed_to(&plan.scratch))?;
        let options = "--serve --replicas --publish";
        let json = cli.out.join("replicas.json");
        let page = cli.publish.map(|page| (page, options));
        return finish(&report, &report.markdown(), &json, page);
    }
    let (Some(components), Some(reference), Some(reference_version), Some(h2load)) = (
        cli.components,
        cli.reference,
        cli.reference_version,
        cli.h2load,
    ) else {
        bail!("`--components`, `--reference`, `--reference-version` and `--h2load` are needed");
    };
    let places = Places {
        program: cli.program,
        components,
        // The agent is next to this program.
        agent: env::current_exe()?.with_file_name("bench-agent"),
        reference,
        h2load,
        scratch,
    };
    let size = Size {
        idle: cli.idle,
        busy: cli.busy,
        time: Duration::from_secs(cli.seconds),
    };
    let figures = serve::run(&places, &size, files, memory()?).await;
    let figures = figures.with_context(|| printed_to(&places.scratch))?;
    let report = Report {
        commit: cli.commit,
        reference: reference_version,
        machine: Machine::this(),
        size,
        figures,
    };
    let json = cli.out.join("serve.json");
    let page = cli.publish.map(|page| (page, "--serve --publish"));
    finish(&report, &report.markdown(), &json, page)
}

/// Prints the tables of a report, writes its figures into a file, and publishes the tables in a page, at the place that
/// is marked with these options.
fn finish(
    report: &impl Serialize,
    tables: &str,
    json: &Path,
    page: Option<(PathBuf, &str)>,
) -> Result<()> {
    println!("{tables}");
    fs::write(json, serde_json::to_vec_pretty(report)?)?;
    if let Some((page, options)) = page {
        report::publish(&page, options, tables)?;
    }
    println!("All figures: {}", json.display());
    Ok(())
}

/// Raises the limit of open files as far as possible, also for the servers, and returns it.
fn files() -> Result<usize> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    let files = limit.maximum.unwrap_or(u64::MAX);
    Ok(usize::try_from(files).unwrap_or(usize::MAX / 1024))
}

/// How many agents this machine has memory for.
fn memory() -> Result<usize> {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = available.and_then(|line| line.trim().strip_suffix(" kB"));
    let available: usize = available.map_or(Ok(usize::MAX), str::parse)?;
    Ok(available.saturating_sub(SPARE) / AGENT)
}
