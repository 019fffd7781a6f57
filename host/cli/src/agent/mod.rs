//! Commands about agents installed by name: one file each, and their common parts.

mod add;
pub mod args;
mod list;
mod place;
mod remove;
mod update;

use std::process::ExitCode;

use crate::report;

pub use self::add::name_command;
pub use self::args::{AgentArgs, by_default};

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

impl Agent {
    pub fn main(self) -> ExitCode {
        match self {
            Self::Add(add) => report(add.main()),
            Self::List(list) => report(list.main()),
            Self::Update(update) => report(update.main()),
            Self::Remove(remove) => report(remove.main()),
        }
    }
}
