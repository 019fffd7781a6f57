//! `acp-chain agent remove`: removes an agent.

use super::place::{self, shown, shown_of_installed};
use crate::Result;
use crate::launched;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_setup::{EditorAgent, all_agents};

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// The agent
    #[arg(value_name = "NAME")]
    name: String,
}

impl Remove {
    pub fn main(self) -> Result<()> {
        let store = place::store_to_change()?;
        let changing = store.change().map_err(shown)?;
        changing.remove(&self.name).map_err(shown_of_installed)?;
        say!("`{}` is removed.", self.name);
        for EditorAgent {
            editor,
            path,
            agent,
        } in all_agents()
        {
            let options = launched::options(&agent);
            if options.is_some_and(|options| options.agent.name.as_ref() == Some(&self.name)) {
                say!(
                    "! `{}` in {} still launches it, and fails: remove it there, or let {} launch another.",
                    quote(&agent.name, MAX_QUOTE),
                    Untrusted::new(path.display()),
                    editor.title
                );
            }
        }
        Ok(())
    }
}
