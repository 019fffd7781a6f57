//! `acp-chain run`: the command that editors launch.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::agent::AgentArgs;
use super::progress::TERMINAL;
use super::receipts::{ReceiptsArgs, tell_checkpoint};
use super::trace::TraceArgs;
use crate::path::path;
use crate::{Result, report_as, report_chain};
use acp_chain_app::run::ChainOptions;
use acp_chain_app::{ChainError, otel, receipts, trace};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::native::{SpawnError, Supervisor};
use acp_chain_conductor::sign_in;
use acp_chain_conductor::trace::Trace;
use acp_chain_manifest::{HooksMode, Remote};
use acp_chain_receipts::LastCheckpoint;
use acp_chain_rpc::transport::Transport;
use acp_chain_system::{stdio, stop, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain run --with rules --with redact -- claude-agent-acp
  acp-chain run --with redact gemini
  acp-chain run --with redact --connect https://agents.example/acp
  acp-chain run --manifest acp-chain.toml
  acp-chain run --trace trace.jsonl -- claude-agent-acp
  acp-chain run --dry-run --with redact -- claude-agent-acp

In a terminal:
  it hands the terminal to the agent, without proxies, and refuses if that would leave out some that you named or have in
  your config.toml; `acp-chain try` takes turns there. `ACP_CHAIN_SIGN_IN=1` in the environment says that it is to sign in

Exit codes:
  the agent's own  once it has run; 128 and the signal's number if a signal ended it
  1                the manifest, a proxy or the agent does not start
  2                the command line is wrong, no agent is named, or a stream or the trace cannot be used
  126              the agent's command cannot be run
  127              the agent's command was not found")]
pub struct Run {
    /// The manifest; by default, the chain in the user's config.toml
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// Also append this extension to the chain; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    /// Give all sessions the project of this folder, whatever their working directory
    #[arg(long, value_name = "DIR", value_parser = path(), conflicts_with = "no_project")]
    project: Option<PathBuf>,
    /// Give no session the proxies of a project; so does `--manifest`, which names the whole chain
    #[arg(long)]
    no_project: bool,
    /// Whether the agent's own hooks show its tool runs to the chain: `required`, `best-effort` or `off`; a manifest
    /// may be stricter
    #[arg(long, value_name = "MODE")]
    hooks: Option<HooksMode>,
    /// Let proxies do nothing: each sees its messages, which go on unchanged, and at the end of a turn you are told
    /// what they would have done. Projects' proxies do not run
    #[arg(long = "dry-run", conflicts_with = "project")]
    is_dry: bool,
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub receipts: ReceiptsArgs,
    #[command(flatten)]
    pub agent: AgentArgs,
    /// More arguments for the manifest's agent. Editors append them, and open a terminal, to let the user
    /// sign in.
    #[arg(skip)]
    pub appended: Vec<OsString>,
    /// The log arguments, for programs of ours that this starts.
    #[arg(skip)]
    pub logging: Vec<OsString>,
    /// Why the chain cannot start, if that is known already.
    #[arg(skip)]
    pub failed: Option<ChainError>,
}

impl Run {
    pub fn main(mut self, log: Option<PathBuf>, supervisor: Option<Supervisor>) -> ExitCode {
        if super::has_terminal() {
            return report_chain(self.hand_over());
        }
        on_a_runtime(self.serve(log, supervisor))
    }

    async fn serve(self, log: Option<PathBuf>, supervisor: Option<Supervisor>) -> Result<u8> {
        let mut options = ChainOptions {
            target: self.trace.target(),
            log,
            ..self.options()
        };
        let begun = self.begin(&mut options);
        let (trace, last) = begun.unwrap_or_else(|error| {
            // Editors show the answer to `initialize`, and few of them standard error.
            options.failed.get_or_insert(ChainError::misuse(error));
            (None, None)
        });
        let (input, output) = acp_chain_app::streams()?;
        let client = Transport {
            is_read: stdio::is_output_read,
            ..Transport::lines(input, output, LINE)
        };
        let stop = stop::requested();
        let served = options.serve(client, trace, supervisor, stop, |_| (), &TERMINAL);
        let exit_code = served.await;
        tell_checkpoint(last.as_ref());
        Ok(exit_code)
    }

    /// Opens the trace and the receipts of the chain.
    fn begin(&self, options: &mut ChainOptions) -> Result<(Option<Trace>, Option<LastCheckpoint>)> {
        options.receipts = self.receipts.target(self.manifest.as_deref())?;
        let log = options.log.as_deref();
        let opened = trace::open(options.target.as_ref())?;
        let exported = otel::exported(opened, self.trace.propagates(), log);
        let observed = receipts::observed(exported, options.receipts.as_ref(), log);
        Ok(observed?)
    }

    /// The manifest that is named.
    pub fn manifest(&self) -> Option<&Path> {
        self.manifest.as_deref()
    }

    /// The chain that the command line describes; its trace and its log have yet to be added.
    pub fn options(&self) -> ChainOptions {
        ChainOptions {
            manifest: self.manifest.clone(),
            with: self.with.clone(),
            project: self.project.clone(),
            no_project: self.no_project,
            agent: self.agent.choice(),
            hooks: self.hooks,
            is_dry_run: self.is_dry,
            logging: self.logging.clone(),
            failed: self.failed.clone(),
            ..ChainOptions::default()
        }
    }

    /// Hands the terminal to the agent: not an editor, but a user has started this, perhaps to sign in (RFD
    /// auth-methods).
    fn hand_over(&mut self) -> Result<ExitCode, ChainError> {
        let mut options = self.options();
        let (_, manifest) = options.read()?;
        let is_sign_in = env::var_os(sign_in::VARIABLE).is_some_and(|value| !value.is_empty());
        if !manifest.proxies.is_empty() && !is_sign_in {
            return Err(ChainError::misuse(format_args!(
                "in a terminal, the agent would run without the proxies of your chain: `acp-chain try` takes \
                 turns with them. To sign in to the agent, set {}=1",
                sign_in::VARIABLE
            )));
        }
        if manifest.agent.is_some() {
            // An editor appends arguments without a `--`, so a name may be the agent's first argument.
            self.appended.splice(0..0, options.agent.take_unknown());
        }
        let mut command = options.command(&manifest)?;
        // What an editor appends for a remote agent is that agent's choice, also if it names a command.
        let is_for_remote = is_sign_in && manifest.agent.as_ref().is_some_and(Remote::is_behind);
        if is_for_remote || Remote::is_behind(&command) {
            return Err(ChainError::misuse(
                "a remote agent cannot use this terminal; `acp-chain try --connect URL` takes a \
                 turn with it, and its operator knows how to sign in there",
            ));
        }
        command.args.append(&mut self.appended);
        tell!("acp-chain: this terminal is the agent's, and no proxies run");
        terminal::hand_over(command.plain())
            .map_err(|error| ChainError::program(&SpawnError::new("agent", &command, error)))
    }
}

/// Waits for a future, on one thread.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = acp_chain_app::runtime()?;
    let done = runtime.block_on(future);
    // A thread that reads a terminal, or compiles, would delay the end.
    runtime.shutdown_background();
    done
}

/// Serves on one thread, since other threads would keep their rights. Returns the exit code.
pub fn on_a_runtime(serve: impl Future<Output = Result<u8>>) -> ExitCode {
    report_as(2, block_on(serve).map(ExitCode::from))
}
