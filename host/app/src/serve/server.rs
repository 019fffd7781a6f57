//! The server that has opened everything: gives up rights, and serves.

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use acp_chain_remote::gate::Gate;
use acp_chain_remote::server::access_log::{AccessLog, Writer};
use acp_chain_remote::server::metrics::Metrics;
use acp_chain_remote::server::tls::Tls;
use acp_chain_remote::server::{Behind, Opened, Server, Serving};
use tokio::runtime::Builder;

use super::chains::Chains;
use super::keys::KeysFeed;
use super::numbers::{self, Agents};
use super::store::StoreProcess;
use crate::plan::give_up_rights;
use crate::values::ValuesProcess;
use crate::{ChainError, Report};
use acp_chain_conductor as chain;
use acp_chain_conductor::native::Supervisor;
use acp_chain_conductor::trace::Tracer;
use acp_chain_receipts::LastCheckpoint;
use acp_chain_sandbox::Directories;
use acp_chain_system::directory::Directory;
use acp_chain_system::stop;

/// How long the last lines of the access log may take.
const FLUSH: Duration = Duration::from_secs(2);

/// A server that has opened everything, and still has all of its user's rights.
pub struct OpenServer {
    /// The directories that proxies may use.
    pub(super) directories: Vec<Directories>,
    /// The folder of the socket for listeners.
    pub(super) live: Option<Directory>,
    pub(super) server: Server,
    pub(super) gate: Arc<Gate>,
    pub(super) tls: Option<Tls>,
    pub(super) keys: Option<KeysFeed>,
    pub(super) metrics: Option<Metrics>,
    pub(super) access: Option<(AccessLog, Writer)>,
    /// Outlives the runtime, so that everything until its end is written.
    pub(super) tracer: Option<Tracer>,
    /// The last checkpoint of the receipts.
    pub(super) receipts: Option<LastCheckpoint>,
    pub(super) chains: Chains,
    /// The process that has the stored values of all users, if a proxy stores some.
    pub(super) values: Option<ValuesProcess>,
    /// The process that has what replicas must know together, if there is a store.
    pub(super) store: Option<StoreProcess>,
    /// The process that starts the agents.
    pub(super) supervisor: Supervisor,
    /// How long turns may go on when a stop is requested.
    pub(super) drain: Duration,
    pub(super) program: PathBuf,
    pub(super) log: Option<PathBuf>,
}

impl OpenServer {
    /// The last checkpoint of the receipts, as it changes, if there are any.
    pub fn receipts(&self) -> Option<LastCheckpoint> {
        self.receipts.clone()
    }

    /// Gives up the rights, and serves until that fails or a stop is requested.
    pub fn run(self, report: &dyn Report) -> Result<(), ChainError> {
        let mut chains = self.chains;
        let agents = Agents::default();
        let numbers = numbers::sources(agents.clone(), chains.total());
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        give_up_rights(&self.directories, self.live.as_ref());
        if let Some(tracer) = &self.tracer {
            tracer.start();
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
            .map_err(ChainError::new)?;
        runtime.block_on(chains.check())?;
        if let Some(values) = self.values {
            let _on_it = runtime.enter();
            chains.store_values(values)?;
        }
        if let Some(store) = self.store {
            let server = &self.server;
            let shares = async {
                let shared = store.shared(self.supervisor)?;
                server.share(shared).await.map_err(ChainError::new)
            };
            runtime.block_on(shares)?;
        }
        let (access, writer) = self.access.unzip();
        if let Some(writer) = writer {
            writer.begin().map_err(ChainError::new)?;
        }
        if let Some(keys) = self.keys {
            let _on_it = runtime.enter();
            keys.keep(self.gate.clone(), self.tls).map_err(|error| {
                ChainError::new(format_args!("keys cannot be watched: {error}"))
            })?;
        }
        report.listens(&self.server.url());
        if let Some(metrics) = self.metrics {
            report.has_metrics(&metrics.url());
            runtime.spawn(metrics.serve(self.server.stopper(), numbers));
        }
        let trace = self.tracer.clone();
        let behind = behind(Arc::new(chains), agents, trace, self.log, self.program);
        let ended = runtime.block_on(until_stopped(self.server, self.gate, behind, self.drain));
        if let Some(access) = access {
            access.flush(FLUSH);
        }
        ended.map_err(ChainError::new)
    }
}

/// Serves until that fails, or until a stop is requested and running turns have ended, or `drain` has passed.
async fn until_stopped(
    server: Server,
    gate: Arc<Gate>,
    behind: Behind,
    drain: Duration,
) -> io::Result<()> {
    let stopper = server.stopper();
    let serving = server.serve(gate, behind);
    let asked = async {
        stop::requested().await;
        tracing::info!("stop requested: running turns may finish");
        tokio::select! {
            () = stopper.drain(drain) => {}
            // A second request ends running turns at once.
            () = stop::requested() => stopper.drain(Duration::ZERO).await,
        }
    };
    tokio::select! {
        ended = serving => ended,
        () = asked => Ok(()),
    }
}

/// The chain behind each connection.
fn behind(
    chains: Arc<Chains>,
    agents: Agents,
    tracer: Option<Tracer>,
    log: Option<PathBuf>,
    program: PathBuf,
) -> Behind {
    let total = chains.total();
    let serve = Box::new(move |opened| {
        let (chains, agents) = (chains.clone(), agents.clone());
        let Opened {
            transport,
            user,
            stop,
            ..
        } = opened;
        let settings = chain::Settings {
            trace: tracer.as_ref().map(|tracer| tracer.of_user(&user.name)),
            program: program.clone(),
            log: log.clone(),
            swaps: None,
            tells_of_unused_tools: true,
            simulates_hooks: false,
            sees_tool_runs: false,
        };
        Box::pin(async move {
            let starting = agents.clone();
            let start = move |role| {
                let (chains, user) = (chains.clone(), user.clone());
                let agents = starting.clone();
                async move {
                    let started = chains.start(role, &user).await;
                    agents.began(started.is_ok());
                    started
                }
            };
            agents.ended(chain::serve(transport, start, stop, settings).await);
        }) as Serving
    });
    Behind {
        serve,
        has_room: Box::new(move || !total.is_full()),
    }
}
