//! `cargo xtask agents`: runs real coding agents, each alone and behind acp-chain.
//!
//! Every agent takes the same steps twice, with its own home folder and a scripted model on loopback
//! (`tests/peers/coding-agents`). The command compares what the client receives behind acp-chain and without it. It
//! fails if a step works only without acp-chain, or if an agent cannot be installed. A third-party client takes turns
//! with one of the agents in the same way.

mod clients;
mod install;
mod model;
mod places;
mod report;
mod roster;
mod steps;
mod tree;
mod trial;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use install::Installation;
use places::{Place, Side};
use report::Row;
use roster::AGENTS;
use steps::{Outcome, Step};
use xtask::progress::Progress;
use xtask::workspace::Workspace;

#[derive(clap::Args)]
pub struct Options {
    /// Run only the agents and clients whose names start with NAME
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "publish")]
    only: Vec<String>,
    /// Write the tables into `docs/real-agents.md`
    #[arg(long)]
    publish: bool,
}

/// The state of a run.
struct Run<'a> {
    workspace: &'a Workspace,
    progress: &'a Progress,
    installed: &'a Installation,
    only: &'a [String],
    failed: String,
}

/// Installs what is missing, runs the agents and the clients, and prints what works.
pub fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    let progress = &Progress::new(workspace);
    let mut run = Run {
        workspace,
        progress,
        installed: &install::all(workspace, progress)?,
        only: &options.only,
        failed: String::new(),
    };
    let agents = run.agents();
    let clients = run.clients()?;
    ensure!(
        !(agents.is_empty() && clients.is_empty() && run.failed.is_empty()),
        "no agent or client has a name that starts with this"
    );
    let tables = [
        report::table("Agent", &Step::ALL, &agents),
        report::table("Client", &clients::STEPS, &clients),
    ]
    .join("\n");
    println!("\n{tables}");
    let failed = [
        run.failed,
        report::broken(&agents),
        report::broken(&clients),
    ]
    .concat();
    eprint!("{failed}");
    if options.publish {
        ensure!(
            failed.is_empty(),
            "nothing is published: some steps do not work"
        );
        report::publish(workspace, &tables)?;
    }
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Run<'_> {
    fn agents(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for agent in &AGENTS {
            let version = (agent.version)(self.installed);
            let play = |place: &Place| trial::play(agent, place);
            rows.extend(self.row(agent.name, version, play));
        }
        rows
    }

    fn clients(&mut self) -> Result<Vec<Row>> {
        let agent = AGENTS.iter().find(|agent| agent.name == clients::AGENT);
        let agent = agent.context("the clients' agent is not in the list")?;
        let mut rows = Vec::new();
        for package in clients::PACKAGES {
            let version = self.installed.npm_version(package);
            let play = |place: &Place| clients::play(package, agent, place);
            rows.extend(self.row(package, version, play));
        }
        Ok(rows)
    }

    /// Runs an agent or client directly and behind acp-chain, unless `--only` excludes it.
    fn row(
        &mut self,
        name: &'static str,
        version: Result<String>,
        play: impl Fn(&Place) -> Result<Vec<Outcome>>,
    ) -> Option<Row> {
        if !self.only.is_empty() && !self.only.iter().any(|only| name.starts_with(only)) {
            return None;
        }
        let row = self.progress.step(name, |_| {
            let version = version?;
            let on = |side| play(&Place::make(self.workspace, self.installed, name, side)?);
            // Not in parallel: agents may share processes that they start once per machine.
            let [direct, behind] = [on(Side::Direct)?, on(Side::Behind)?];
            Ok(Row::new(name, version, direct, behind))
        });
        match row {
            Ok(row) => Some(row),
            Err(error) => {
                self.failed.extend([format!("{error:#}\n")]);
                None
            }
        }
    }
}
