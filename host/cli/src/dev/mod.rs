//! `acp-chain dev`: builds a project whenever its sources change, and swaps the result into the running chain.

pub mod notices;

use std::path::PathBuf;
use std::process::ExitCode;

use tokio::io::split;

use super::agent::{AgentArgs, by_default};
use super::progress::TERMINAL;
use super::run::on_a_runtime;
use super::trace::TraceArgs;
use crate::Result;
use crate::path::path;
use acp_chain_app::dev::{Dev as Service, DevEnds, DevProject, Disconnect, read_ahead};
use acp_chain_app::protected::NamedFiles;
use acp_chain_app::run::written;
use acp_chain_app::{Error, otel, trace};
use acp_chain_channel::limits::LINE;
use acp_chain_interactive::trial::{Trial, play_agent};
use acp_chain_interactive::typed::picture::Picture;
use acp_chain_interactive::typed::streams;
use acp_chain_rpc::transport::Transport;
use acp_chain_system::stdio;

#[derive(Debug, clap::Args)]
#[command(mut_arg("words", by_default("a built-in agent")))]
#[command(after_help = "\
Examples:
  acp-chain dev
  acp-chain dev --project-dir ./shout --trace trace.jsonl -- claude-agent-acp

Exit codes:
  the agent's own  once it has run; 128 and the signal's number if a signal ended it
  1                the chain or the agent does not start
  2                the command line is wrong, or the project, a stream or the trace cannot be used
  126              the agent's command cannot be run
  127              the agent's command was not found")]
pub struct Dev {
    /// The project; by default, that of the current folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    project_dir: PathBuf,
    /// A manifest that names the project's component by its `path`; by default, the component is the chain, with
    /// everything that it asks for
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    trace: TraceArgs,
    // Without one, a built-in client and agent try the proxy.
    #[command(flatten)]
    agent: AgentArgs,
}

impl Dev {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        on_a_runtime(self.serve(log))
    }

    async fn serve(self, log: Option<PathBuf>) -> Result<u8> {
        let target = self.trace.target();
        let written = written(log.as_deref(), target.as_ref());
        let choice = self.agent.choice();
        let agent = choice.command()?;
        let named = NamedFiles::new(agent.clone(), &written);
        let project = DevProject::find(&self.project_dir, self.manifest.as_deref(), named)?;
        let (trace, picture) = if choice.is_empty() {
            let (trace, picture) = Picture::begin(target.as_ref(), &TERMINAL)?;
            (Some(trace), Some(picture))
        } else {
            (trace::open(target.as_ref())?, None)
        };
        let service = Service::new(project.clone(), agent, &written, &TERMINAL)?;
        let trace = otel::exported(trace, self.trace.propagates(), log.as_deref());
        let (input, disconnect) = read_ahead(stdio::input().map_err(Error::Streams)?);
        let Some(picture) = picture else {
            let output = stdio::output().map_err(Error::Streams)?;
            let ends = DevEnds {
                client: Transport::lines(input, output, LINE),
                disconnect,
                agent: None,
                play: std::future::pending(),
            };
            return service.serve(ends, trace, log).await;
        };
        let (client, to_client) = streams();
        let (agent, to_agent) = streams();
        let trial = Trial {
            project,
            picture,
            built: service.built(),
            client,
            screen: &TERMINAL,
            report: &TERMINAL,
        };
        tokio::spawn(play_agent(agent, &TERMINAL));
        let (reader, writer) = split(to_client);
        let ends = DevEnds {
            client: Transport::lines(reader, writer, LINE),
            // The prompts of a trial may end before the first build.
            disconnect: Disconnect::never(),
            agent: Some(to_agent),
            play: trial.run(input, disconnect),
        };
        Ok(Box::pin(service.serve(ends, trace, log)).await?)
    }
}
