//! `acp-chain state wipe`: removes what proxies have stored.

use std::path::Path;
use std::process::ExitCode;

use super::{OwnerArgs, owner, server, values};
use crate::Result;
use crate::extension::consent::agrees;
use acp_chain_app::home;
use acp_chain_app::serve::store;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::{Database, StateError, Summary};
use clap::ArgGroup;

#[derive(Debug, clap::Args)]
#[command(group(
    ArgGroup::new("what").args(["extension", "user", "project", "all"]).required(true).multiple(true)
))]
pub struct Wipe {
    #[command(flatten)]
    of: OwnerArgs,
    /// Everything; a database that is damaged is replaced by an empty one
    #[arg(long, conflicts_with_all = ["extension", "user", "project"])]
    all: bool,
    /// Those of a server's users, in the store that its replicas share: the one that config.toml names
    #[arg(long)]
    store: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl Wipe {
    pub fn main(self) -> Result<ExitCode> {
        home::check_owners()?;
        if self.store {
            return self.wipe_shared();
        }
        let path = home::database()?;
        if path.exists() {
            home::check_writable(path.parent().unwrap_or(&path))?;
        }
        let found = match Database::find(&path) {
            Err(error) if self.all && error.needs_reset() => {
                return self.reset(&path, &error);
            }
            found => found?,
        };
        let filter = self.of.filter();
        let summaries = match &found {
            Some(database) => database.chosen(&filter)?,
            None => Vec::new(),
        };
        summaries.iter().for_each(print);
        let (Some(mut database), false) = (found, summaries.is_empty()) else {
            say!("There are no such values; `acp-chain state list` shows what there is.");
            return Ok(ExitCode::SUCCESS);
        };
        if !self.is_agreed()? {
            return Ok(ExitCode::FAILURE);
        }
        let removed = database.wipe(&filter)?;
        say!("{} removed.", values(removed.values));
        Ok(ExitCode::SUCCESS)
    }

    /// Removes values of a server's users.
    fn wipe_shared(&self) -> Result<ExitCode> {
        let (settings, filter) = (server()?, self.of.filter());
        let summaries = store::list_values(&settings, &filter)?;
        summaries.iter().for_each(print);
        if summaries.is_empty() {
            say!("There are no such values; `acp-chain state list --store` shows what there is.");
            return Ok(ExitCode::SUCCESS);
        }
        if !self.is_agreed()? {
            return Ok(ExitCode::FAILURE);
        }
        let removed = store::wipe_values(&settings, &filter)?;
        say!("{} removed.", values(removed.values));
        Ok(ExitCode::SUCCESS)
    }

    /// Replaces a database that cannot be read.
    fn reset(&self, path: &Path, error: &StateError) -> Result<ExitCode> {
        say!("{error}");
        if !self.is_agreed()? {
            return Ok(ExitCode::FAILURE);
        }
        Database::reset(path)?;
        say!("All that proxies had stored is removed.");
        Ok(ExitCode::SUCCESS)
    }

    fn is_agreed(&self) -> Result<bool> {
        agrees(self.yes, "Remove these values for good?")
    }
}

/// Prints what is about to be removed.
fn print(summary: &Summary) {
    say!(
        "{}, for {}: {}",
        quote(&summary.namespace.extension, MAX_QUOTE),
        owner(&summary.namespace),
        values(summary.count)
    );
}
