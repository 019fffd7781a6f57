//! The agents that editors launch through acp-chain, parsed like our own command line. Unreadable configurations are
//! skipped.

use std::path::PathBuf;

use acp_chain_setup::{Agent, EDITORS, Editor, Folders, Runs, agents};
use clap::Parser;

use super::agent::args::AgentArgs;
use super::run::Run;
use super::{Cli, Command};

/// An agent in the configuration of an editor.
pub struct Launched {
    pub editor: &'static Editor,
    /// The path of the editor's configuration.
    pub path: PathBuf,
    /// The name of the agent there.
    pub name: String,
    /// The agent that the command line of acp-chain there names.
    pub agent: AgentArgs,
}

/// The agents in all configurations that are found.
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

/// The agent that an editor's command line names, if the command is acp-chain.
pub fn behind(agent: &Agent) -> Option<AgentArgs> {
    run(agent).map(|run| run.agent)
}

/// An editor's command line for an agent, if the command is acp-chain.
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
