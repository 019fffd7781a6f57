//! `acp-chain try`: turns in the terminal, without an editor. The chain is that of `acp-chain run`, and each turn is
//! followed by a picture of what each proxy did with the messages.
//!
//! | file | what it is |
//! |---|---|
//! | `client` | the client: prompts, answers, and questions in between |
//! | `question` | permission requests |
//! | `shown` | the agent's output, as it arrives |

mod client;
mod question;
mod shown;

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

use self::client::{Client, Ending, Scene};
use super::progress::TERMINAL;
use super::run::{Run, on_a_runtime};
use super::typed::picture::{Picture, columns};
use super::typed::streams;
use crate::{Result, report_chain};
use acp_chain_app::otel;
use acp_chain_app::run::ChainOptions;
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::Chain;
use acp_chain_rpc::transport::Transport;
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
  1    the chain, the agent or the last turn failed
  2    the command line is wrong, or a stream or the trace cannot be used
  3    the agent wants you to sign in
  130  you pressed Ctrl-C twice, or between turns")]
pub struct Try {
    #[command(flatten)]
    pub run: Run,
    /// Take only this turn; by default, each line of standard input is a prompt
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
}

impl Try {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        // Errors in the chain are reported at once.
        match self.run.options().agent() {
            Ok(agent) => on_a_runtime(async {
                let scene = Scene {
                    agent,
                    folder: acp_chain_app::here()?,
                    columns: columns(),
                    has_terminal: super::has_terminal(),
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
            log,
            ..self.run.options()
        };
        let (trace, picture) = Picture::begin(options.target.as_ref())?;
        let propagates = self.run.trace.propagates();
        let trace = otel::exported(Some(trace), propagates, options.log.as_deref());
        let (ours, theirs) = streams();
        let (reader, writer) = tokio::io::split(theirs);
        let transport = Transport::lines(reader, writer, LINE);
        let proxies = RefCell::new(Vec::new());
        let begun = |chain: &Chain| {
            let names = chain.proxies.iter().map(|proxy| proxy.name().to_owned());
            proxies.replace(names.collect());
        };
        let stop = stop::ordered();
        let served = options.serve(transport, trace, None, stop, begun, &TERMINAL);
        let client = Client::new(ours, input, interrupts, picture, &scene, &proxies);
        let (_, ending) = tokio::join!(served, client.run(self.prompt));
        Ok(match ending? {
            Ending::Done => 0,
            // The failure has been reported already.
            Ending::Failed => FAILED,
            Ending::Login => LOGIN,
            Ending::Interrupted => INTERRUPTED,
        })
    }
}
