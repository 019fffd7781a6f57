//! Commands about agents installed by name: one file each, and their common parts.

mod add;
pub mod args;
mod list;
mod place;
mod remove;
mod update;

use crate::Result;
use std::process::ExitCode;

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
    pub fn main(self) -> Result<ExitCode> {
        match self {
            Self::Add(add) => add.main(),
            Self::List(list) => list.main(),
            Self::Update(update) => update.main(),
            Self::Remove(remove) => remove.main(),
        }
    }
}
