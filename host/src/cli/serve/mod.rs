//! `acp-chain serve`: a chain for each client that comes over HTTP or WebSocket.
//!
//! Everything that takes rights is done before the first client comes: manifests are read, components compiled, ports
//! opened, and what starts agents is told which. Then the rights are given up, for all chains.
//!
//! | file | what it is |
//! |---|---|
//! | `chains` | what is shared, and how a chain is made of it |

mod chains;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use acp_chain_remote::gate::Gate;
use acp_chain_remote::server::{Behind, Endpoint, Limits, Node, Opened, Server, Settings};

use self::chains::Chains;
use super::agent::AgentArgs;
use super::give_up_rights;
use super::plan::Failed;
use super::run::{self, Run};
use crate::chain::{self, Role};
use crate::limits::LINE;
use crate::system::{descriptors, stop};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain serve --with redact -- claude-agent-acp
  acp-chain serve --listen 127.0.0.1:8600 --manifest acp-chain.toml gemini

Exit codes:
  0    it was asked to stop, and all connections have ended
  1    the manifest, a proxy or the address is wrong
  2    the command line is wrong, or no agent is named")]
pub struct Serve {
    /// Where clients come in; port 0 is one of the system's choice
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8600")]
    listen: SocketAddr,
    /// The path of the endpoint
    #[arg(long, value_name = "PATH", default_value = "/acp")]
    path: Endpoint,
    /// What the ids of connections begin with, for balancers to find the replica; without it, something random
    #[arg(long, value_name = "NAME", env = "ACP_CHAIN_NODE")]
    node: Option<Node>,
    /// How long a connection is kept of which nothing is heard
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    resume_seconds: u64,
    /// How long turns may go on when it is asked to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain_seconds: u64,
    /// The manifest; without it, the chain is that of the user's config.toml
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Also stand this extension in the chain, behind those that are there; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// How many connections there may be at most.
const CONNECTIONS: usize = 10_000;

/// How many files, pipes and sockets a connection takes, with some to spare for the proxies.
const DESCRIPTORS: usize = 10;

impl Serve {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        match self.serve(log) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                eprintln!("acp-chain: {}", failed.error);
                ExitCode::from(failed.exit_code)
            }
        }
    }

    fn serve(self, log: Option<PathBuf>) -> Result<(), Failed> {
        let wrong = |error: &dyn std::fmt::Display| super::plan::failed(error);
        if !self.listen.ip().is_loopback() {
            return Err(Failed {
                exit_code: 2,
                ..wrong(&format!(
                    "whoever reaches {} could use the agent; listen on an address of this machine, as 127.0.0.1",
                    self.listen
                ))
            });
        }
        let connections = CONNECTIONS.min(descriptors::raise() / DESCRIPTORS);
        let settings = Settings {
            endpoint: self.path,
            node: match self.node {
                Some(node) => node,
                None => Node::random().map_err(|error| wrong(&error))?,
            },
            line: LINE,
            resume: Duration::from_secs(self.resume_seconds),
            limits: Limits {
                connections,
                connections_per_user: connections,
            },
        };
        let run = Run::of_all(self.manifest, self.with, self.agent);
        let plan = run.plan(Role::Agent, log.as_deref())?;
        let address = self.listen;
        let server = Server::open(address, settings, None)
            .map_err(|error| wrong(&format!("{address} cannot be listened at: {error}")))?;
        let program = chain::Settings::default().program;
        let supervisor = run::supervise(&program)?;
        let directories = plan.directories.clone();
        // What it takes to load ends with this, and no thread keeps rights.
        let loaded = runtime(None)
            .map_err(|error| wrong(&error))?
            .block_on(Chains::load(plan, supervisor));
        let chains = Arc::new(loaded?);
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        give_up_rights(&directories, None);
        let runtime = runtime(Some(threads)).map_err(|error| wrong(&error))?;
        runtime.block_on(chains.proxies())?;
        say!("listening on {}", server.url());
        let behind: Behind = Box::new(move |opened| {
            let (chains, log, program) = (chains.clone(), log.clone(), program.clone());
            Box::pin(async move {
                let Opened {
                    transport,
                    user,
                    stop,
                    ..
                } = opened;
                let settings = chain::Settings {
                    trace: None,
                    program,
                    log,
                    swaps: None,
                };
                let start = move |role| {
                    let (chains, user) = (chains.clone(), user.clone());
                    async move { chains.start(role, &user).await }
                };
                chain::serve(transport, start, stop, settings).await;
            })
        });
        runtime.block_on(async {
            let stopper = server.stopper();
            let serving = server.serve(Arc::new(Gate::open()), behind);
            let asked = async {
                stop::requested().await;
                tracing::info!("asked to stop: turns that run may finish");
                tokio::select! {
                    () = stopper.drain(Duration::from_secs(self.drain_seconds)) => {}
                    // Asked once more, nothing is waited for.
                    () = stop::requested() => stopper.drain(Duration::ZERO).await,
                }
            };
            tokio::select! {
                ended = serving => ended.map_err(|error| wrong(&error)),
                () = asked => Ok(()),
            }
        })
    }
}

/// A runtime, of this thread or of so many.
fn runtime(threads: Option<usize>) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match threads {
        Some(threads) => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads);
            builder
        }
        None => tokio::runtime::Builder::new_current_thread(),
    };
    builder.enable_all().build()
}
