//! `acp-chain dev`: builds a project whenever its sources change, and swaps the result into the running chain.
//!
//! Toolchains run all the time, so unlike [`run`](super::run) this process gives up none of its rights.

mod builds;
mod client;
mod cycle;
mod developed;
mod notices;
mod sources;
mod trial;

use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::io::DuplexStream;
use tokio::sync::{mpsc, watch};

use self::builds::Builds;
use self::client::{Disconnect, read_ahead};
use self::cycle::{Built, Cycle};
use self::developed::{Developed, Read};
use self::sources::Sources;
use self::trial::Trial;
use super::agent::{AgentArgs, by_default};
use super::otel;
use super::plan::{Failed, Plan, failed};
use super::protected::Named;
use super::run::{check_grant, code_of, on_a_runtime, start_error, supervise};
use super::trace::{self, Target, Traced};
use super::typed::picture::Picture;
use super::typed::streams;
use acp_chain::host::Host;
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::native::CommandLine;
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{self as chain, Chain, ChildIo, Role, Settings};
use acp_chain_extension::Digest;
use acp_chain_rpc::transport::Transport;
use acp_chain_sandbox::Engine;
use acp_chain_system::{descriptors, stdio, stop};

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
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
    // Without one, a built-in client and agent try the proxy.
    #[command(flatten)]
    agent: AgentArgs,
}

/// The start of the chain.
struct Beginning {
    developed: Developed,
    /// The agent; `None` for a built-in one.
    agent: Option<CommandLine>,
    program: PathBuf,
    engine: Engine,
    built: watch::Receiver<Built>,
    begun: watch::Sender<Option<Digest>>,
    client: Disconnect,
    /// The host's end of a built-in agent.
    to_agent: Option<DuplexStream>,
}

/// The ends of a trial.
struct Ends {
    trial: Trial,
    to_client: DuplexStream,
    agent: DuplexStream,
}

impl Dev {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        on_a_runtime(self.serve(log))
    }

    async fn serve(self, log: Option<PathBuf>) -> Result<u8, String> {
        let is_trial = self.agent.is_empty();
        let traced = self.target.traced();
        let files = traced.as_ref().map(Traced::files);
        let written = log.iter().chain(files.iter().flatten());
        let written: Vec<_> = written.map(PathBuf::as_path).collect();
        let agent = self.agent.command()?;
        let named = Named::new(agent.clone(), written.iter().copied());
        let developed = Developed::find(&self.project_dir, self.manifest.as_deref(), named)?;
        let traced = traced.as_ref();
        let (trace, picture) = if is_trial {
            Picture::begin(traced).map(|(trace, picture)| (Some(trace), Some(picture)))?
        } else {
            (trace::open_target(traced)?, None)
        };
        let sources = Sources::watch(&developed.folder, developed.manifest.as_deref(), &written)?;
        let (build_tx, build_rx) = watch::channel(None);
        let (begun_tx, begun_rx) = watch::channel(None);
        let (swaps, newer) = mpsc::channel(1);
        let mut to_agent = None;
        let ends = picture.map(|picture| {
            let (agent, theirs) = streams();
            to_agent = Some(theirs);
            ends(&developed, picture, agent, build_rx.clone())
        });
        let settings = Settings {
            trace: otel::exported(trace, self.target.propagates(), log.as_deref())
                .map(Trace::tracer),
            log,
            swaps: Some(newer),
            tells_of_unused_tools: true,
            ..Settings::default()
        };
        let unusable = |error| format!("standard input or output cannot be used: {error}");
        let input = stdio::input().map_err(unusable)?;
        let (input, disconnect) = read_ahead(input);
        // The prompts of a trial may end before the first build.
        let (client, prompted) = if is_trial {
            (Disconnect::never(), disconnect)
        } else {
            (disconnect, Disconnect::never())
        };
        let engine = Engine::for_newer_versions().map_err(|error| error.to_string())?;
        let cycle = Cycle {
            builds: Builds::new(&settings.program, &developed.folder)?,
            sources,
            host: Arc::new(Host::new(engine.clone())),
            developed: developed.clone(),
            swaps,
            built: build_tx,
            begun: begun_rx,
        };
        let mut beginning = Beginning {
            developed,
            agent,
            program: settings.program.clone(),
            engine,
            built: build_rx,
            begun: begun_tx,
            client,
            to_agent,
        };
        let mut exit_code = 0;
        let start = async |role| {
            beginning
                .chain(role)
                .await
                .map_err(start_error(&mut exit_code))
        };
        let exit = match ends {
            None => {
                let output = stdio::output().map_err(unusable)?;
                let client = Transport::lines(input, output, LINE);
                tokio::select! {
                    exit = chain::serve(client, start, stop::requested(), settings) => exit,
                    no_end = cycle.run() => match no_end {},
                }
            }
            Some(ends) => {
                let (reader, writer) = tokio::io::split(ends.to_client);
                let client = Transport::lines(reader, writer, LINE);
                tokio::spawn(trial::play_agent(ends.agent));
                let mut served = pin!(chain::serve(client, start, stop::requested(), settings));
                tokio::select! {
                    exit = &mut served => exit,
                    tried = ends.trial.run(input, prompted) => {
                        tried?;
                        served.await
                    }
                    no_end = cycle.run() => match no_end {},
                }
            }
        };
        Ok(code_of(exit, exit_code))
    }
}

/// The ends of the chain if no agent is named.
fn ends(
    developed: &Developed,
    picture: Picture,
    agent: DuplexStream,
    built: watch::Receiver<Built>,
) -> Ends {
    let (client, to_client) = streams();
    let trial = Trial {
        developed: developed.clone(),
        picture,
        built,
        client,
    };
    Ends {
        trial,
        to_client,
        agent,
    }
}

impl Beginning {
    /// The chain, as soon as there is a first version.
    async fn chain(&mut self, role: Role) -> Result<Chain, Failed> {
        if role != Role::Agent {
            return Err(failed(
                &"`acp-chain dev` cannot be a proxy of another conductor; run it directly",
            ));
        }
        let built = tokio::select! {
            built = self.built.wait_for(Option::is_some) => built.map(|built| built.clone()),
            () = self.client.wait() => return Err(failed(&"the client disconnected while the project was built")),
        };
        let built = built.ok().flatten();
        if let Some(Err(error)) = built {
            return Err(failed(&format!("the project does not build\n{error}")));
        }
        let version = self.developed.version().map_err(|error| failed(&error))?;
        let plan = self.plan().map_err(|error| failed(&error))?;
        let supervisor = supervise(&self.program)?;
        // Components open files.
        descriptors::raise();
        let loaded = plan.load(Some(supervisor)).await?;
        let mut chain = loaded.run().await?;
        let ours = self.to_agent.take();
        chain.agent = chain.agent.or(ours.map(|stream| {
            let (output, input) = tokio::io::split(stream);
            ChildIo::over(output, input).into()
        }));
        self.begun.send_replace(Some(version));
        Ok(chain)
    }

    fn plan(&self) -> Result<Plan, String> {
        let Read {
            user,
            manifest,
            directories,
        } = self.developed.chain()?;
        check_grant(&manifest, &user).map_err(|failed| failed.error.message)?;
        Ok(Plan {
            reach: user.reach.or(manifest.reach),
            manifest: Some(manifest),
            directories,
            agent: self.agent.clone(),
            projects: None,
            engine: Some(self.engine.clone()),
        })
    }
}
