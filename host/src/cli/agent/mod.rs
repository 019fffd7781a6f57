//! Commands about agents that are installed by name: one file each, and what they share.

mod add;
mod args;
mod list;
mod place;
mod remove;
mod update;

use std::process::ExitCode;

pub use self::args::{AgentArgs, installed};

#[derive(Debug, clap::Subcommand)]
pub enum Agent {
    /// Install an agent of the registry, or give a command of your own a name
    Add(add::Add),
    /// Print the agents that are installed, or those of the registry
    List(list::List),
    /// Look whether the registry has something newer
    Update(update::Update),
    /// Remove an agent, with all that was installed of it
    Remove(remove::Remove),
}

/// Whether an agent of this name is installed.
pub fn is_installed(name: &str) -> bool {
    place::store().is_ok_and(|store| store.find(name).is_ok())
}

/// The names of the agents that are installed.
pub fn names() -> Result<Vec<String>, String> {
    place::store()?.names().map_err(place::shown)
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
