//! The agents that editors launch through acp-chain, parsed like our own command line. Unreadable configurations have
//! none.

use std::path::PathBuf;

use acp_chain_setup::{Agent, EDITORS, Editor, Folders, Runs, agents};
use clap::Parser;

use super::agent::args::AgentArgs;
use super::run::Run;
use super::{Cli, Command};

/// An agent in the configuration of an editor.
pub struct Launched {
    pub editor: &'static Editor,
    /// The configuration.
    pub path: PathBuf,
    /// The name of the agent there.
    pub name: String,
    /// The agent on our command line there.
    pub agent: AgentArgs,
}

/// All of them.
pub fn all() -> Vec<Launched> {
    let Some(places) = Folders::of_user() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for editor in &EDITORS {
        for path in editor.everywhere(&places) {
            let (found, _) = agents(editor, &path).unwrap_or_default();
            let launched = found.into_iter().filter_map(|one| {
                let agent = behind(&one)?;
                Some(Launched {
                    editor,
                    path: path.clone(),
                    name: one.name,
                    agent,
                })
            });
            all.extend(launched);
        }
    }
    all
}

/// The agent behind acp-chain on an agent's command line, if that is ours.
pub fn behind(agent: &Agent) -> Option<AgentArgs> {
    run(agent).map(|run| run.agent)
}

/// An agent's command line, if that is ours.
pub fn run(agent: &Agent) -> Option<Run> {
    if !matches!(agent.runs, Runs::Chain | Runs::ByHand) {
        return None;
    }
    let cli = Cli::try_parse_from(&agent.words).ok()?;
    match cli.command {
        Command::Run(mut run) => {
            run.settings = cli.settings;
            Some(run)
        }
        _ => None,
    }
}
