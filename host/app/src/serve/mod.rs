//! A server: a chain for each client that connects over HTTP or WebSocket.
//!
//! Everything that needs rights is done before the first client connects: manifests are read, components compiled,
//! ports opened, and the programs that the supervisor may start are fixed. Then the rights are given up, for all
//! chains.
//!
//! | file | what it is |
//! |---|---|
//! | `store` | what replicas must know together, and the process that has it |
//! | `kept` | what proxies keep for the users, for operators |
//! | `server` | the server that has opened everything: gives up rights, and serves |
//! | `chains` | the parts that all chains share, and starting a chain |
//! | `pressure` | when new connections are rejected |
//! | `access` | the file of the access log |
//! | `numbers` | further metrics |
//! | `keys` | the credentials that verify users, as they change |

mod access_log;
mod chains;
pub mod kept;
pub mod keys;
mod numbers;
mod pressure;
mod server;
pub mod store;

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use acp_chain_remote::gate::{Gate, JwksSource, Keys};
use acp_chain_remote::server::metrics::Metrics;
use acp_chain_remote::server::{BODIES, Files, Limits, Node, Server, Settings, tls};

use self::chains::Chains;
use self::keys::KeysFeed;
use self::store::StoreProcess;
use crate::plan::{Plan, supervise};
use crate::run::ChainOptions;
use crate::values::ValuesProcess;
use crate::{ChainError, Report, otel, receipts, trace};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{self as chain, Role};
use acp_chain_extension::Lock;
use acp_chain_manifest::serve::Route;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::descriptors;

pub use self::server::OpenServer;
pub use crate::serve_settings::{ServeLimits, ServeSettings, StoreSettings};

/// The default address.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8600);

/// The number of files that are reserved for the server itself.
const OWN_FILES: usize = 64;

/// The number of files of a bridge: its socket or port, the lifeline of that, and two clients.
const BRIDGE: usize = 4;

/// Opens and loads everything that needs rights. `options` describe the chain of users without a route; if it
/// `propagates`, agents receive the exported spans of their turns.
pub fn open(
    set: ServeSettings,
    options: ChainOptions,
    propagates: bool,
    report: &'static dyn Report,
) -> Result<OpenServer, ChainError> {
    let address = set.listen.unwrap_or(LISTEN);
    set.gate.check(address).map_err(ChainError::misuse)?;
    let access = set.access_log.as_deref().map(access_log::open);
    let access = access.transpose()?;
    let options = ChainOptions {
        protected: protected_files(&set),
        ..options
    };
    let store = StoreProcess::start(&set, options.log.as_deref())?;
    if let Some(unused) = store::unused_values(&set) {
        report.warns(&unused);
    }
    let shared = store::place_of_values(&set);
    let others = options.plan(Role::Agent)?;
    let routes = plan_routes(set.routes, &options)?;
    let plans = routes.iter().map(|(_, plan)| plan).chain([&others]);
    // Each program is connected over one socket, and so is a tool run that waits.
    let of_plan = |plan: &Plan| {
        let bridge = if plan.may_offer_tools() { BRIDGE } else { 0 };
        plan.commands().count() + usize::from(plan.hooks.needs_hooks()) + bridge
    };
    let of_chain = plans.clone().map(of_plan).max();
    let node = set.node.map_or_else(Node::random, Ok);
    let settings = Settings {
        access: access.as_ref().map(|(access, _)| access.clone()),
        endpoint: set.path,
        node: node.map_err(ChainError::new)?,
        line: LINE,
        resume: set.limits.resume,
        limits: limits(
            &set.limits,
            set.gate.requires_auth(),
            of_chain.unwrap_or_default(),
        ),
        turn_limits: Some(set.turn_limits)
            .filter(|_| set.gate.requires_auth())
            .unwrap_or_default(),
    };
    let proxies = plans.clone().flat_map(|plan: &Plan| &plan.proxies);
    let directories = proxies.map(|proxy| proxy.directories.clone()).collect();
    let tls = set.gate.tls.as_ref();
    let tls = tls.map(|tls| tls::load(&tls.cert, &tls.key, tls.client_ca.as_deref()));
    let tls = tls.transpose().map_err(ChainError::new)?;
    let program = chain::Settings::default().program;
    let log = options.log;
    let keys = KeysFeed::begin(&set.gate, &program, log.as_deref());
    let mut keys = keys.map_err(ChainError::new)?;
    let config = tls.as_ref().map(|tls| tls.config.clone());
    let server = Server::open(address, settings, config);
    let what = format_args!("{address} cannot be listened at");
    let server = server.map_err(|error| not_open(what, "--listen", &error))?;
    let metrics = set.metrics.map(Metrics::open).transpose();
    let metrics =
        metrics.map_err(|error| not_open("metrics cannot be served", "--metrics", &error))?;
    let tokens = set.gate.only_tokens().map(Path::to_owned);
    let gate = Arc::new(Gate::new(set.gate, server.address()));
    if let Some(keys) = &mut keys {
        gate.update(first_keys(keys, tokens.as_deref(), report)?);
    }
    let trace = trace::open(options.target.as_ref()).map_err(ChainError::misuse)?;
    let live = trace.as_ref().and_then(trace::live_folder);
    let exported = otel::exported(trace, propagates, log.as_deref());
    let begun = receipts::observed(exported, options.receipts.as_ref(), log.as_deref());
    let (observed, last) = begun.map_err(ChainError::misuse)?;
    let tracer = observed.map(Trace::tracer);
    let values = ValuesProcess::start(plans.map(|plan| &plan.values), shared)?;
    let supervisor = supervise(&program)?;
    // The loading runtime ends here, and no thread keeps rights.
    let runtime = crate::runtime()?;
    let loading = Chains::load(routes, others, supervisor.clone(), &set.limits, report);
    let loaded = runtime.block_on(loading);
    drop(runtime);
    let chains = loaded?;
    chains.total().bound(pressure::bounds(&set.limits));
    Ok(OpenServer {
        directories,
        live,
        server,
        gate,
        tls,
        keys,
        metrics,
        access,
        tracer,
        receipts: last,
        chains,
        values,
        store,
        supervisor,
        drain: set.limits.drain,
        program,
        log,
    })
}

/// The error about a listener; `option` names another address for it.
fn not_open(what: impl Display, option: &str, error: &io::Error) -> ChainError {
    let next = match error.kind() {
        ErrorKind::AddrInUse => {
            format!("; another program listens there: `{option}` names another address")
        }
        _ => String::new(),
    };
    ChainError::new(format_args!("{what}: {error}{next}"))
}

/// The first keys. Warns if only `tokens` admits clients, and that file has none.
fn first_keys(
    keys: &mut KeysFeed,
    tokens: Option<&Path>,
    report: &dyn Report,
) -> Result<Keys, ChainError> {
    let first = keys.first();
    let first =
        first.map_err(|error| ChainError::new(format_args!("there are no keys: {error}")))?;
    if let Some(file) = tokens.filter(|_| first.tokens.is_empty()) {
        let file = Untrusted::new(file.display());
        report.warns(&format!(
            "{file} has no tokens, so no client is admitted: `acp-chain serve-token NAME --file {file}` adds one"
        ));
    }
    Ok(first)
}

/// Plans the chains of users with routes.
fn plan_routes(
    routes: Vec<Route>,
    options: &ChainOptions,
) -> Result<Vec<(Route, Plan)>, ChainError> {
    let planned = routes.into_iter().map(|route| {
        let manifest = Some(route.manifest.clone());
        let options = ChainOptions {
            manifest,
            ..options.clone()
        };
        let plan = options.plan(Role::Agent).map_err(of_route)?;
        if plan.manifest.receipts.is_some() {
            let manifest = Untrusted::new(plan.manifest.path.display()).to_string();
            return Err(ChainError::misuse(format_args!(
                "{manifest}: a server has one log of receipts: name it with `--receipts`, in your config.toml, or in \
                 the manifest of users without a route"
            )));
        }
        Ok((route, plan))
    });
    planned.collect()
}

/// The error about the chain of a route, with the place that names its manifest.
fn of_route(mut error: ChainError) -> ChainError {
    let message = &mut error.error.message;
    *message = format!("a `[[serve.route]]` of your config.toml: {message}");
    error
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
    if let Some(postgres) = set.store.as_ref().and_then(|store| store.postgres.as_ref()) {
        if let Some(password) = &postgres.password {
            add("the password of the store", password);
        }
        if let Some(authorities) = &postgres.authorities {
            add("the authorities of the store's certificate", authorities);
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
        turns: set.turns.map_or(usize::MAX, bounded),
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
