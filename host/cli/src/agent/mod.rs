//! Commands about agents installed by name: one file each, and their common parts.

mod add;
pub mod args;
mod list;
mod place;
mod remove;
mod update;

use std::process::ExitCode;

use acp_chain_agents::Kind;

pub use self::args::{AgentArgs, by_default, installed, is_unknown};
use acp_chain_conductor::native::CommandLine;

#[derive(Debug, clap::Subcommand)]
pub enum Agent {
    /// Install an agent from the registry, or give your own command a name
    Add(add::Add),
    /// List the installed agents, or those in the registry
    List(list::List),
    /// Check the registry for newer versions
    Update(update::Update),
    /// Remove an agent with its files
    Remove(remove::Remove),
}

/// The names of the installed agents.
pub fn names() -> Result<Vec<String>, String> {
    place::store()?.names().map_err(place::shown)
}

/// An installed agent that cannot be launched.
pub struct Unusable {
    pub why: String,
    /// The command that repairs it.
    pub remedy: String,
}

/// The command line of each installed agent. Without a folder for them, there are none.
pub fn all() -> Vec<Result<CommandLine, Unusable>> {
    let Ok(store) = place::store() else {
        return Vec::new();
    };
    let unusable = |name: &str, kind: Option<Kind>, error| {
        let does = match kind {
            Some(Kind::Command) | None => "remove",
            Some(_) => "update",
        };
        Unusable {
            why: place::shown(error),
            remedy: format!("acp-chain agent {does} {name}"),
        }
    };
    let names = store.names().unwrap_or_default();
    let agents = names.iter().map(|name| {
        let record = store.find(name);
        let record = record.map_err(|error| unusable(name, None, error))?;
        let usable = record.check();
        usable.map_err(|error| unusable(name, Some(record.kind), error))?;
        Ok(args::launched(&record))
    });
    agents.collect()
}

impl Agent {
    pub fn main(self) -> Result<ExitCode, String> {
        match self {
            Self::Add(add) => add.main(),
            Self::List(list) => list.main(),
            Self::Update(update) => update.main(),
            Self::Remove(remove) => remove.main(),
        }
    }
}
