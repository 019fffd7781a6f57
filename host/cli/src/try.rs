//! `acp-chain try`: turns in the terminal, without an editor. The chain is that of `acp-chain run`, and each turn is
//! followed by a picture of what each proxy did with the messages.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::progress::TERMINAL;
use super::receipts::tell_checkpoint;
use super::run::{Run, on_a_runtime};
use crate::{Result, report_chain};
use acp_chain_address::Address;
use acp_chain_app::run::ChainOptions;
use acp_chain_app::{otel, receipts, shell};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::Chain;
use acp_chain_conductor::native::Process;
use acp_chain_interactive::turns::{Client, Ending, Files, RunningChain, Scene};
use acp_chain_interactive::typed::editor::Editor;
use acp_chain_interactive::typed::input::Input;
use acp_chain_interactive::typed::picture::{Picture, columns};
use acp_chain_interactive::typed::streams;
use acp_chain_rpc::transport::Transport;
use acp_chain_secrets::masked;
use acp_chain_system::stdio;
use acp_chain_system::stop::{self, Interrupts};

/// The exit code if the chain, the agent or the last turn failed.
const FAILED: u8 = 1;

/// The exit code if the agent requires its user to sign in.
const LOGIN: u8 = 3;

/// The exit code if the user ended it: that of shells for an interrupt.
const INTERRUPTED: u8 = 130;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain try --with redact gemini
  acp-chain try --with redact -- claude-agent-acp
  acp-chain try --with redact --prompt 'What is in this folder?' -- claude-agent-acp

Exit codes:
  0    the last turn was answered, whatever its stop reason
  1    the chain, the agent or the last turn failed, or the agent was silent for too long
  2    the command line is wrong, or a stream or the trace cannot be used
  3    the agent wants you to sign in
  130  you pressed Ctrl-C twice, or between turns")]
pub struct Try {
    #[command(flatten)]
    pub run: Run,
    /// Take only this turn; by default, each line of standard input is a prompt
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// End if the agent has to answer, and sends nothing for so long; by default, only a hint is printed after 10
    /// seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
}

impl Try {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        // Errors in the chain are reported at once.
        match self.run.options().agent() {
            Ok(agent) => on_a_runtime(async {
                let folder = acp_chain_app::here()?;
                let scene = Scene {
                    agent,
                    files: open(&folder),
                    folder,
                    patience: self.timeout.map(Duration::from_secs),
                    doctor: self.doctor(),
                    log: log.clone(),
                    columns: columns(),
                    has_terminal: super::has_terminal(),
                    screen: &TERMINAL,
                };
                Box::pin(self.serve(scene, log)).await
            }),
            Err(error) => report_chain(Err::<(), _>(error)),
        }
    }

    async fn serve(self, scene: Scene, log: Option<PathBuf>) -> Result<u8> {
        let unusable = |error| wrong!("standard input cannot be used: {error}");
        let input = stdio::input().map_err(unusable)?;
        // Everything that needs rights precedes the chain, which gives them up.
        let interrupts = Interrupts::listen()
            .map_err(|error| wrong!("interrupts cannot be listened for: {error}"))?;
        let options = ChainOptions {
            target: self.run.trace.target(),
            receipts: self.run.receipts.target(self.run.manifest())?,
            log,
            served: scene.files.as_ref().map(Files::directories),
            ..self.run.options()
        };
        let editor = match self.prompt {
            None if scene.has_terminal => Editor::start(options.log.as_deref()).await,
            _ => None,
        };
        let (trace, picture) = Picture::begin(options.target.as_ref(), &TERMINAL)?;
        let propagates = self.run.trace.propagates();
        let log_file = options.log.as_deref();
        let exported = otel::exported(Some(trace), propagates, log_file);
        let observed = receipts::observed(exported, options.receipts.as_ref(), log_file)?;
        let (trace, last) = observed;
        let (ours, theirs) = streams();
        let (reader, writer) = tokio::io::split(theirs);
        let transport = Transport::lines(reader, writer, LINE);
        let running = RefCell::new(RunningChain::default());
        let begin = |chain: &Chain| {
            let names = chain.proxies.iter().map(|proxy| proxy.name().to_owned());
            let process = chain
                .agent
                .as_ref()
                .and_then(|agent| agent.process.as_ref());
            running.replace(RunningChain {
                proxies: names.collect(),
                stderr: process.map(Process::stderr),
            });
        };
        let stop = stop::ordered();
        let served = options.serve(transport, trace, None, stop, begin, &TERMINAL);
        let input = Input::new(editor, input, &TERMINAL);
        let client = Client::new(ours, input, interrupts, picture, &scene, &running);
        let (_, ending) = tokio::join!(served, client.run(self.prompt));
        tell_checkpoint(last.as_ref());
        Ok(match ending? {
            Ending::Done => 0,
            // The failure has been reported already.
            Ending::Failed | Ending::Silent => FAILED,
            Ending::Login => LOGIN,
            Ending::Interrupted => INTERRUPTED,
        })
    }

    /// The command that checks the agent and the chain, without the secrets that are found in it.
    fn doctor(&self) -> String {
        let options = self.run.options();
        let mut words = vec!["acp-chain doctor".to_owned()];
        if let Some(manifest) = &options.manifest {
            words.extend(["--manifest".to_owned(), shell::word(manifest)]);
        }
        if let Some(remote) = &options.agent.remote {
            // Without a query, which may hold a secret.
            let shown = remote.url.parse::<Address>();
            let shown = shown.map_or_else(|_| "URL".to_owned(), |address| address.to_string());
            words.extend(["--connect".to_owned(), shell::word(Path::new(&shown))]);
        }
        words.extend(options.agent.name);
        let mut agent = options.agent.words.iter().map(Path::new).map(shell::word);
        if let Some(program) = agent.next() {
            words.extend(["--".to_owned(), program]);
            words.extend(agent);
        }
        masked(&words.join(" ")).into_owned()
    }
}

/// The files of the folder; none if they cannot be served, which is told.
fn open(folder: &Path) -> Option<Files> {
    let opened = Files::open(folder).inspect_err(|error| {
        tell!("acp-chain try: the agent gets no files through the chain: {error}");
    });
    opened.ok()
}
