//! `acp-chain serve`: a chain for each client that connects over HTTP or WebSocket.
//!
//! Everything that needs rights is done before the first client connects: manifests are read, components compiled,
//! ports opened, and the programs that the supervisor may start are fixed. Then the rights are given up, for all
//! chains.
//!
//! | file | what it is |
//! |---|---|
//! | `args` | the command line, over config.toml |
//! | `ready` | the server that has opened everything: gives up rights, and serves |
//! | `chains` | the parts that all chains share, and starting a chain |
//! | `pressure` | when new connections are rejected |
//! | `access` | the file of the access log |
//! | `numbers` | further metrics |
//! | `keys` | the credentials that verify users, as they change |
//! | `token` | `serve-token` |

mod access;
mod args;
mod chains;
pub mod keys;
mod numbers;
mod pressure;
mod ready;
pub mod settings;
pub mod token;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use acp_chain_remote::gate::{Gate, JwksSource};
use acp_chain_remote::server::metrics::Metrics;
use acp_chain_remote::server::{BODIES, Files, Limits, Node, Server, Settings, tls};

use self::args::{ServeArgs, ServeSettings};
use self::chains::Chains;
use self::keys::KeysFeed;
use self::ready::Ready;
use self::settings::ServeLimits;
use super::agent::AgentArgs;
use super::otel;
use super::plan::{self, Failed};
use super::run::{self, Run};
use super::trace::{self, Target};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{self as chain, Role};
use acp_chain_extension::Lock;
use acp_chain_system::descriptors;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain serve --with redact -- claude-agent-acp
  acp-chain serve --listen 127.0.0.1:8600 --manifest acp-chain.toml gemini
  acp-chain serve --trace trace.jsonl -- claude-agent-acp

Exit codes:
  0    it was asked to stop, and all connections have ended
  1    the manifest, a proxy or the address is wrong
  2    the command line is wrong, no agent is named, or the trace cannot be used")]
pub struct Serve {
    #[command(flatten)]
    args: ServeArgs,
    /// The manifest; without it, the chain is that of the user's config.toml
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Also append this extension to the chain; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    agent: AgentArgs,
}

/// The number of files that are reserved for the server itself.
const OWN_FILES: usize = 64;

impl Serve {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        match self.open(log).and_then(Ready::run) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                tell!("acp-chain: {}", failed.error);
                ExitCode::from(failed.exit_code)
            }
        }
    }

    /// Opens and loads everything that needs rights.
    fn open(self, log: Option<PathBuf>) -> Result<Ready, Failed> {
        let wrong = |error: &dyn std::fmt::Display| plan::failed(error);
        let misused = |error: String| Failed {
            exit_code: 2,
            ..wrong(&error)
        };
        let user = super::user().map_err(|error| wrong(&error))?;
        let set = self.args.settings(&user).map_err(misused)?;
        let access = set.access_log.as_deref().map(access::open).transpose();
        let access = access.map_err(|error| wrong(&error))?;
        let file = self.target.traced();
        let protected = protected_files(&set);
        let plan = |manifest| {
            let mut run = Run::of_all(manifest, self.with.clone(), self.agent.clone());
            run.traced.clone_from(&file);
            run.protected.clone_from(&protected);
            run.plan(Role::Agent, log.as_deref())
        };
        let others = plan(self.manifest.clone())?;
        let routes = set.routes.into_iter().map(|route| {
            let plan = plan(Some(route.manifest.clone()))?;
            Ok((route, plan))
        });
        let routes: Vec<_> = routes.collect::<Result<_, _>>()?;
        let plans = routes.iter().map(|(_, plan)| plan).chain([&others]);
        // Each program is connected over one socket.
        let of_chain = plans
            .clone()
            .map(|plan| chains::commands(plan).count())
            .max();
        let settings = Settings {
            access: access.as_ref().map(|(access, _)| access.clone()),
            endpoint: set.endpoint,
            node: match set.node {
                Some(node) => node,
                None => Node::random().map_err(|error| wrong(&error))?,
            },
            line: LINE,
            resume: set.limits.resume,
            limits: limits(
                &set.limits,
                set.gate.requires_auth(),
                of_chain.unwrap_or_default(),
            ),
        };
        let directories = plans.flat_map(|plan| plan.directories.clone()).collect();
        let tls = set.gate.tls.as_ref();
        let tls = tls.map(|tls| tls::load(&tls.cert, &tls.key, tls.client_ca.as_deref()));
        let tls = tls.transpose().map_err(|error| wrong(&error))?;
        let program = chain::Settings::default().program;
        let keys = KeysFeed::begin(&set.gate, &program, log.as_deref());
        let mut keys = keys.map_err(|error| wrong(&error))?;
        let address = set.listen;
        let config = tls.as_ref().map(|tls| tls.config.clone());
        let server = Server::open(address, settings, config)
            .map_err(|error| wrong(&format!("{address} cannot be listened at: {error}")))?;
        let metrics = set.metrics.map(Metrics::open).transpose();
        let metrics =
            metrics.map_err(|error| wrong(&format!("metrics cannot be served: {error}")))?;
        let gate = Arc::new(Gate::new(set.gate, server.address()));
        if let Some(keys) = &mut keys {
            let first = keys.first();
            gate.update(first.map_err(|error| wrong(&format!("there are no keys: {error}")))?);
        }
        let trace = trace::open_target(file.as_ref()).map_err(misused)?;
        let live = trace.as_ref().and_then(trace::live_folder);
        let tracer =
            otel::exported(trace, self.target.propagates(), log.as_deref()).map(Trace::tracer);
        let supervisor = run::supervise(&program)?;
        // The loading runtime ends here, and no thread keeps rights.
        let loaded = ready::runtime(None)
            .map_err(|error| wrong(&error))?
            .block_on(Chains::load(routes, others, supervisor, set.limits.sleep));
        let chains = loaded?;
        chains.total().bound(pressure::bounds(&set.limits));
        Ok(Ready {
            directories,
            live,
            server,
            gate,
            tls,
            keys,
            metrics,
            access,
            tracer,
            chains,
            drain: set.limits.drain,
            program,
            log,
        })
    }
}

/// The files of a server that no proxy may write to, each with its description.
fn protected_files(set: &ServeSettings) -> Vec<(&'static str, PathBuf)> {
    let mut all = Vec::new();
    let mut add = |what, path: &Path| all.push((what, path.to_owned()));
    if let Some(tokens) = &set.gate.tokens {
        add("the tokens of users", tokens);
    }
    if let Some(tls) = &set.gate.tls {
        add("the server's certificate", &tls.cert);
        add("the server's key", &tls.key);
        if let Some(authority) = &tls.client_ca {
            add("the authority of clients' certificates", authority);
        }
    }
    for issuer in &set.gate.issuers {
        if let JwksSource::File(keys) = &issuer.jwks {
            add("the keys of an issuer", keys);
        }
    }
    if let Some(log) = &set.access_log {
        add("the access log", log);
        add("the old access log", &acp_chain_trace::kept(log));
    }
    for route in &set.routes {
        add("the manifest of other users", &route.manifest);
        add("its lock", &Lock::beside(&route.manifest));
    }
    all
}

/// The limits, within the number of files that the system allows.
fn limits(set: &ServeLimits, requires_auth: bool, of_chain: usize) -> Limits {
    let files = Files {
        all: descriptors::raise().saturating_sub(OWN_FILES),
        of_chain,
    };
    let bounded = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
    let mut limits = Limits {
        connections: bounded(set.connections),
        connections_per_user: bounded(set.connections_per_user),
        sessions_per_user: bounded(set.sessions_per_user),
        bodies_per_user: BODIES / 4,
        pace: set.bytes_per_second_per_user,
        files,
    };
    if !requires_auth {
        // All clients count as one user.
        limits.connections_per_user = usize::MAX;
        limits.sessions_per_user = usize::MAX;
        limits.bodies_per_user = BODIES;
        limits.pace = None;
    }
    limits
}
