//! Builds a project whenever its sources change, and swaps the result into the running chain.
//!
//! Toolchains run all the time, so unlike [`run`] this process gives up none of its rights.
//!
//! | file | what it is |
//! |---|---|
//! | `developed` | the project, and the chain with its component |
//! | `sources` | notices changes of the sources |
//! | `builds` | builds, in processes of their own |
//! | `cycle` | the loop: changes are built, and swapped in |
//! | `client` | notices the end of the client's stream |

mod builds;
mod client;
mod cycle;
mod developed;
mod sources;

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use tokio::io::DuplexStream;
use tokio::sync::{mpsc, watch};

use self::builds::Builds;
use self::cycle::Cycle;
use self::sources::Sources;
use crate::hooks::HooksPlan;
use crate::plan::{Plan, check_grant, supervise};
use crate::values::ValuesPlan;
use crate::{ChainError, Error, Report, run};
use acp_chain::host::Host;
use acp_chain_conductor::native::CommandLine;
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{Chain, ChildIo, Role, Settings, Swap};
use acp_chain_extension::Digest;
use acp_chain_rpc::transport::Transport;
use acp_chain_sandbox::Engine;
use acp_chain_system::{descriptors, stop};

pub use self::client::{Disconnect, read_ahead};
pub use self::cycle::BuildResult;
pub use self::developed::DevProject;

/// Sends news to the developer, and to the log. Text from outside must be escaped already.
pub fn tell(report: &dyn Report, what: &str) {
    tracing::info!("{what}");
    report.news(what);
}

/// A project whose sources are watched, before its chain starts.
pub struct Dev {
    cycle: Cycle,
    beginning: ChainStart,
    settings: Settings,
}

/// The start of the chain.
struct ChainStart {
    project: DevProject,
    /// The agent; `None` for a built-in one.
    agent: Option<CommandLine>,
    program: PathBuf,
    engine: Engine,
    built: watch::Receiver<BuildResult>,
    begun: watch::Sender<Option<Digest>>,
    report: &'static dyn Report,
}

/// The ends of a chain under development.
pub struct DevEnds<F> {
    pub client: Transport,
    /// The end of the client.
    pub disconnect: Disconnect,
    /// The host's end of a built-in agent.
    pub agent: Option<DuplexStream>,
    /// Plays a built-in client. Once it is done, the chain ends with its streams.
    pub play: F,
}

impl Dev {
    /// Watches the sources of a project, apart from the files that this process writes.
    pub fn new(
        project: DevProject,
        agent: Option<CommandLine>,
        written: &[PathBuf],
        report: &'static dyn Report,
    ) -> Result<Self, Error> {
        let beside = project.manifest.as_deref();
        let sources = Sources::watch(&project.folder, beside, written, report)?;
        let (build_tx, build_rx) = watch::channel(None);
        let (begun_tx, begun_rx) = watch::channel(None);
        let (swaps, newer) = mpsc::channel::<Swap>(1);
        let settings = Settings {
            swaps: Some(newer),
            tells_of_unused_tools: true,
            ..Settings::default()
        };
        let engine = Engine::for_newer_versions()?;
        Ok(Self {
            cycle: Cycle {
                builds: Builds::new(&settings.program, &project.folder)?,
                sources,
                host: Arc::new(Host::new(engine.clone())),
                project: project.clone(),
                swaps,
                built: build_tx,
                begun: begun_rx,
                report,
            },
            beginning: ChainStart {
                project,
                agent,
                program: settings.program.clone(),
                engine,
                built: build_rx,
                begun: begun_tx,
                report,
            },
            settings,
        })
    }

    /// The result of the last build.
    pub fn built(&self) -> watch::Receiver<BuildResult> {
        self.beginning.built.clone()
    }

    /// Serves a client until either end disconnects. Returns the exit code.
    pub async fn serve<E>(
        mut self,
        ends: DevEnds<impl Future<Output = Result<(), E>>>,
        trace: Option<Trace>,
        log: Option<PathBuf>,
    ) -> Result<u8, E> {
        let settings = Settings {
            trace: trace.map(Trace::tracer),
            log,
            ..self.settings
        };
        let (mut disconnect, mut agent) = (ends.disconnect, ends.agent);
        let start = async |role| {
            let chain = self.beginning.chain(role, &mut disconnect, &mut agent);
            Ok(chain.await?)
        };
        let stop = stop::requested();
        let mut served = pin!(run::serve(ends.client, start, "", stop, settings));
        tokio::select! {
            code = &mut served => Ok(code),
            played = ends.play => {
                played?;
                Ok(served.await)
            }
            no_end = self.cycle.run() => match no_end {},
        }
    }
}

impl ChainStart {
    /// The chain, as soon as there is a first version.
    async fn chain(
        &mut self,
        role: Role,
        disconnect: &mut Disconnect,
        ours: &mut Option<DuplexStream>,
    ) -> Result<Chain, ChainError> {
        if role != Role::Agent {
            return Err(ChainError::new(
                "`acp-chain dev` cannot be a proxy of another conductor; run it directly",
            ));
        }
        let built = tokio::select! {
            built = self.built.wait_for(Option::is_some) => built.map(|built| built.clone()),
            () = disconnect.wait() => {
                return Err(ChainError::new("the client disconnected while the project was built"));
            }
        };
        if let Ok(Some(Err(error))) = built {
            return Err(ChainError::new(format_args!(
                "the project does not build\n{error}"
            )));
        }
        let version = self.project.version()?;
        let plan = self.plan()?;
        let supervisor = supervise(&self.program)?;
        // Components open files.
        descriptors::raise();
        let loaded = plan.load(Some(supervisor), self.report).await?;
        let mut chain = loaded.run().await?;
        chain.agent = chain.agent.or(ours.take().map(|stream| {
            let (output, input) = tokio::io::split(stream);
            ChildIo::over(output, input).into()
        }));
        self.begun.send_replace(Some(version));
        Ok(chain)
    }

    fn plan(&self) -> Result<Plan, Error> {
        let chain = self.project.chain()?;
        check_grant(&chain.manifest, &chain.user)?;
        Ok(Plan {
            about: None,
            reach: chain.user.reach.or(chain.manifest.reach),
            hooks: HooksPlan::new(None, &chain.user, &chain.manifest, &chain.proxies),
            // Those of a proxy under development are not kept.
            values: ValuesPlan::default(),
            is_dry_run: false,
            manifest: chain.manifest,
            proxies: chain.proxies,
            agent: self.agent.clone(),
            projects: None,
            engine: Some(self.engine.clone()),
        })
    }
}
