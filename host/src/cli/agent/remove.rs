//! `acp-chain agent remove`: removes an agent.

use std::process::ExitCode;

use super::place::{self, shown};

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// Which
    #[arg(value_name = "NAME")]
    name: String,
}

impl Remove {
    pub fn main(self) -> Result<ExitCode, String> {
        let store = place::store_to_change()?;
        let changing = store.change().map_err(shown)?;
        changing.remove(&self.name).map_err(shown)?;
        say!("`{}` is removed.", self.name);
        Ok(ExitCode::SUCCESS)
    }
}
