//! `cargo xtask agents`: runs real coding agents, each alone and behind acp-chain.
//!
//! Every agent takes the same steps twice, with its own home folder and a scripted model on loopback
//! (`tests/peers/coding-agents`). The command compares what the client receives behind acp-chain and without it. It
//! fails if a step works only without acp-chain, or if an agent cannot be installed. A third-party client takes turns
//! with one of the agents in the same way.
//!
//! Then the agents whose hooks can be attached take other steps behind acp-chain, which judges their tools. The command
//! fails if a step does not work that should. `--speed` times calls of tools instead, without hooks and with them.

mod clients;
mod hooked;
mod install;
mod model;
mod places;
mod report;
mod roster;
mod steps;
mod tree;
mod trial;

use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, ensure};

use hooked::{HOOKED, Hooked};
use install::Installation;
use places::{Place, Side};
use report::{HooksRow, Row, SpeedRow};
use roster::{AGENTS, Agent};
use steps::{Outcome, Step};
use trial::speed;
use xtask::publish;
use xtask::workspace::Workspace;

#[derive(clap::Args)]
pub struct Options {
    /// Run only the agents and clients whose names start with NAME
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "publish")]
    only: Vec<String>,
    /// Run only the trials of the agents' hooks
    #[arg(long)]
    hooks: bool,
    /// With `--hooks`: time tool calls of Claude, Codex and Qwen, without hooks, with the user's own and with ours
    #[arg(long, requires = "hooks")]
    speed: bool,
    /// Write the tables into `docs/real-agents.md`, or with `--speed` into `docs/hooks.md`
    #[arg(long)]
    publish: bool,
}

/// The state of a run.
struct Run<'a> {
    workspace: &'a Workspace,
    installed: &'a Installation,
    only: &'a [String],
    failed: String,
}

/// Installs what is missing, runs the agents and the clients, and prints what works.
pub fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    let mut run = Run {
        workspace,
        installed: &install::all(workspace, options.speed)?,
        only: &options.only,
        failed: String::new(),
    };
    if options.speed {
        return run.speed(options.publish);
    }
    let (agents, clients) = if options.hooks {
        (Vec::new(), Vec::new())
    } else {
        (run.agents(), run.clients()?)
    };
    let hooks = run.hooks()?;
    let rows = agents.len() + clients.len() + hooks.len();
    ensure!(
        rows > 0 || !run.failed.is_empty(),
        "no agent or client has a name that starts with this"
    );
    let mut sections = vec![(report::BEGIN_HOOKS, report::hooks_table(&hooks))];
    if !options.hooks {
        let tables = [
            report::table("Agent", &Step::ALL, &agents),
            report::table("Client", &clients::STEPS, &clients),
        ];
        sections.insert(0, (report::BEGIN, tables.join("\n")));
    }
    for (_, tables) in &sections {
        println!("\n{tables}");
    }
    let [broken, better] = report::unexpected(&hooks);
    let failed = [
        run.failed,
        report::broken(&agents),
        report::broken(&clients),
        broken,
    ]
    .concat();
    eprint!("{failed}{better}");
    if options.publish {
        ensure!(
            failed.is_empty(),
            "nothing is published: some steps do not work"
        );
        for (begin, tables) in &sections {
            publish::tables(workspace, report::PAGE, begin, tables)?;
        }
    }
    Ok(xtask::verdict(failed.is_empty()))
}

/// The agent that has these hooks.
fn agent_of(hooked: &Hooked) -> Result<&'static Agent> {
    let agent = AGENTS.iter().find(|agent| agent.name == hooked.name);
    agent.context("an agent with hooks is not in the list")
}

impl Run<'_> {
    fn agents(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for agent in &AGENTS {
            let version = agent.version(self.installed);
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

    /// Runs the agents whose hooks can be attached.
    fn hooks(&mut self) -> Result<Vec<HooksRow>> {
        let mut rows = Vec::new();
        for hooked in &HOOKED {
            let agent = agent_of(hooked)?;
            let (workspace, installed) = (self.workspace, self.installed);
            let title = format!("{} with hooks", hooked.name);
            let row = self.attempt(hooked.name, &title, || {
                let version = agent.version(installed)?;
                let mut place = Place::make(workspace, installed, hooked.name, Side::Hooked)?;
                Ok(HooksRow {
                    name: hooked.name,
                    version,
                    outcomes: trial::hooks::play(agent, hooked, &mut place)?,
                    fails: hooked.fails,
                })
            });
            rows.extend(row);
        }
        Ok(rows)
    }

    /// Times tool calls.
    fn speed(mut self, publishes: bool) -> Result<ExitCode> {
        let mut rows = Vec::new();
        let (workspace, installed) = (self.workspace, self.installed);
        for (name, own) in speed::AGENTS {
            let hooked = HOOKED.iter().find(|hooked| hooked.name == name);
            let hooked = hooked.context("an agent that is timed is not in the list")?;
            let agent = agent_of(hooked)?;
            let row = self.attempt(name, &format!("{name}, timed"), || {
                let version = agent.version(installed)?;
                let places = speed::places(workspace, installed, name)?;
                Ok(SpeedRow {
                    name,
                    version,
                    calls: speed::play(agent, hooked, own, &places)?,
                })
            });
            rows.extend(row);
        }
        let processors = thread::available_parallelism()?;
        let measured = workspace
            .commit()
            .map_or_else(String::new, |commit| format!(", commit {commit}"));
        let (calls, turns) = (speed::CALLS, speed::TURNS);
        let table = report::speed_table(&rows);
        let text = format!(
            "Measured on {processors} processors{measured}: the medians of {turns} turns with {calls} calls each.\n\n{table}"
        );
        println!("\n{text}");
        eprint!("{}", self.failed);
        if !self.failed.is_empty() || rows.is_empty() {
            return Ok(ExitCode::FAILURE);
        }
        if publishes {
            publish::tables(workspace, report::HOOKS_PAGE, report::BEGIN_SPEED, &text)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Runs an agent or client directly and behind acp-chain.
    fn row(
        &mut self,
        name: &'static str,
        version: Result<String>,
        play: impl Fn(&Place) -> Result<Vec<Outcome>>,
    ) -> Option<Row> {
        let (workspace, installed) = (self.workspace, self.installed);
        self.attempt(name, name, || {
            let version = version?;
            let on = |side| play(&Place::make(workspace, installed, name, side)?);
            // Not in parallel: agents may share processes that they start once per machine.
            let [direct, behind] = [on(Side::Direct)?, on(Side::Behind)?];
            Ok(Row::new(name, version, direct, behind))
        })
    }

    /// Runs the trials of an agent or client, unless `--only` excludes its name. A failure is noted.
    fn attempt<T>(
        &mut self,
        name: &str,
        title: &str,
        trials: impl FnOnce() -> Result<T>,
    ) -> Option<T> {
        if !self.only.is_empty() && !self.only.iter().any(|only| name.starts_with(only)) {
            return None;
        }
        match self.workspace.step(title, |_| trials()) {
            Ok(row) => Some(row),
            Err(error) => {
                self.failed.extend([format!("{error:#}\n")]);
                None
            }
        }
    }
}
