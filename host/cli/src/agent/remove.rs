//! `acp-chain agent remove`: removes an agent.

use std::process::ExitCode;

use super::place::{self, shown};
use crate::launched;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// The agent
    #[arg(value_name = "NAME")]
    name: String,
}

impl Remove {
    pub fn main(self) -> Result<ExitCode, String> {
        let store = place::store_to_change()?;
        let changing = store.change().map_err(shown)?;
        changing.remove(&self.name).map_err(shown)?;
        say!("`{}` is removed.", self.name);
        for launched in launched::all() {
            if launched.agent.name() == Some(&*self.name) {
                say!(
                    "! `{}` in {} still launches it, and fails: remove it there, or let {} launch another.",
                    quote(&launched.name, MAX_QUOTE),
                    Untrusted::new(launched.path.display()),
                    launched.editor.title
                );
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
