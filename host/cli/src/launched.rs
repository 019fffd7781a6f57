//! What editors launch, parsed like our own command line.

use acp_chain_app::run::ChainOptions;
use acp_chain_setup::Agent;
use clap::Parser;

use super::{Cli, Command};

/// The chain that an editor's command line for an agent describes, if the command is acp-chain.
pub fn options(agent: &Agent) -> Option<ChainOptions> {
    if !agent.is_chained() {
        return None;
    }
    let cli = Cli::try_parse_from(&agent.words).ok()?;
    match cli.command {
        Command::Run(run) => {
            let mut options = run.options();
            options.settings = cli.settings;
            options.agent.data = cli.data;
            Some(options)
        }
        _ => None,
    }
}
