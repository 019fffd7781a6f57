//! `acp-chain permissions import`: the rules of agents, as rules of `permissions`.

use std::path::PathBuf;

use acp_chain_permissions::{AGENTS, Agent, Folders, Import as Imported, Left, import};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_system::files::real;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use super::output::Output;
use crate::Result;
use crate::out::counted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain permissions import
  acp-chain permissions import claude --write
  acp-chain permissions import --project . --write
  acp-chain permissions import codex --json")]
pub struct Import {
    /// The agents; by default, all that have rules here
    #[arg(value_name = "AGENT", value_parser = agents())]
    agents: Vec<Agent>,
    /// Take what agents allow in this project instead of what they allow you everywhere, for the project's
    /// `acp-chain.toml`. What they deny, or ask about, is taken from everywhere
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

fn agents() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(AGENTS.map(Agent::name)).try_map(|name| {
        let mut agents = AGENTS.into_iter();
        let named = agents.find(|agent| agent.name() == name);
        named.ok_or("there is no such agent")
    })
}

impl Import {
    pub fn main(self) -> Result<()> {
        let mut folders =
            Folders::of_user().ok_or("there is no home folder with rules of agents")?;
        let project = self.project.as_ref().map(|folder| {
            let shown = quote(&folder.display().to_string(), MAX_QUOTE);
            let found = real(folder);
            found.map_err(|error| wrong!("--project {shown}: {error}"))
        });
        folders.project = project.transpose()?;
        let agents = if self.agents.is_empty() {
            AGENTS.to_vec()
        } else {
            self.agents
        };
        let imports = agents
            .into_iter()
            .map(|agent| (agent, import(agent, &folders)));
        let imports: Vec<_> = imports.collect();
        let manifest = folders.project.map(|folder| folder.join("acp-chain.toml"));
        let batches: Vec<_> = imports
            .iter()
            .map(|(_, import)| &import.rules[..])
            .collect();
        if self.output.json {
            let all = imports.iter().map(|(agent, import)| {
                json!({
                    "agent": agent.name(),
                    "rules": import.rules,
                    "left": import.left,
                    "partial": import.partial,
                })
            });
            say!("{:#}", json!({ "agents": all.collect::<Vec<_>>() }));
        } else if !self.output.write {
            Output::print(&batches)?;
        }
        if !self.output.json {
            print_left(&imports);
        }
        self.output.write(&batches, manifest)
    }
}

/// Prints what was not taken over, as comments of TOML.
fn print_left(imports: &[(Agent, Imported)]) {
    for (agent, import) in imports {
        let count = import.rules.len();
        if count > 0 || !import.left.is_empty() {
            say!("# {}: {}", agent.name(), counted(count, "rule"));
        }
        for Left { from, why } in &import.left {
            let file = from.file.display();
            let place = match (from.line, &*from.rule) {
                (0, _) => file.to_string(),
                (line, "") => format!("{file}:{line}"),
                (line, rule) => format!("{file}:{line}: {rule}"),
            };
            let (place, why) = (quote(&place, MAX_QUOTE), quote(why, MAX_QUOTE));
            say!("# not taken over: {place}: {why}");
        }
    }
    let is_empty =
        |(_, import): &(Agent, Imported)| import.rules.is_empty() && import.left.is_empty();
    if imports.iter().all(is_empty) {
        say!("# No rules of agents were found.");
    }
}
