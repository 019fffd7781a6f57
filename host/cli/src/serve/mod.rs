//! `acp-chain serve`: a chain for each client that connects over HTTP or WebSocket.

mod args;
mod kept;
mod replicas;
pub mod token;

use std::path::PathBuf;

use self::args::ServeArgs;
use self::replicas::ServeCommand;
use super::agent::AgentArgs;
use super::progress::TERMINAL;
use super::receipts::{ReceiptsArgs, tell_checkpoint};
use super::trace::TraceArgs;
use crate::path::path;
use acp_chain_app::run::ChainOptions;
use acp_chain_app::serve::{self, ServeSettings};
use acp_chain_app::{ChainError, home};
use acp_chain_manifest::HooksMode;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  acp-chain serve --with redact -- claude-agent-acp
  acp-chain serve --listen 127.0.0.1:8600 --manifest acp-chain.toml gemini
  acp-chain serve --trace trace.jsonl -- claude-agent-acp
  acp-chain serve --migrate
  acp-chain serve status
  acp-chain serve status --user ann --json
  acp-chain serve end --user ann

Exit codes:
  0    it was asked to stop, and all connections have ended
  1    the manifest, a proxy or the address is wrong
  2    the command line is wrong, no agent is named, or the trace cannot be used")]
pub struct Serve {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    #[command(flatten)]
    args: ServeArgs,
    /// The manifest; without it, the chain is that of the user's config.toml
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// Also append this extension to the chain; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    /// Whether the agent's own hooks must show its tool runs to the chain: `required`, `best-effort` or `off`; a
    /// manifest may be stricter
    #[arg(long, value_name = "MODE")]
    hooks: Option<HooksMode>,
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    receipts: ReceiptsArgs,
    #[command(flatten)]
    agent: AgentArgs,
}

impl Serve {
    pub fn main(self, log: Option<PathBuf>) -> Result<(), ChainError> {
        let user = home::user()?;
        if let Some(command) = self.command {
            return command.main(&ServeSettings::of(&user)?);
        }
        let migrates = self.args.migrate;
        let settings = self.args.over(ServeSettings::of(&user)?);
        if migrates {
            let steps = serve::store::migrate(&settings)?;
            tell!("the store is up to date; that took {steps} steps");
            return kept::migrate(&settings);
        }
        let receipts = self.receipts.target(self.manifest.as_deref());
        let options = ChainOptions {
            receipts: receipts.map_err(ChainError::misuse)?,
            manifest: self.manifest,
            with: self.with,
            no_project: true,
            agent: self.agent.choice(),
            hooks: self.hooks,
            target: self.trace.target(),
            log,
            ..ChainOptions::default()
        };
        let server = serve::open(settings, options, self.trace.propagates(), &TERMINAL)?;
        let last = server.receipts();
        let ran = server.run(&TERMINAL);
        tell_checkpoint(last.as_ref());
        ran
    }
}
