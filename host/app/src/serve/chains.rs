//! The shared parts of all clients' chains, and how a chain is made of them.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::ServeLimits;
use crate::hooks::{ChainHooks, SharedHooks};
use crate::plan::{self, Plan, start_native};
use crate::protected::file_of;
use crate::values::{ValuesPlan, ValuesProcess};
use crate::{ChainError, Error, Report, home};
use acp_chain::host::{self, Host, LoadedProxy, Ready, ReadyProxy, StartedProxies};
use acp_chain_channel::{Failure, Registration};
use acp_chain_conductor::native::{CommandLine, Startable, Supervisor};
use acp_chain_conductor::{Chain, ChildIo, Member, Role, StartError};
use acp_chain_manifest::serve::Route;
use acp_chain_manifest::{Manifest, ProxyEntry, ProxyKind, Remote};
use acp_chain_mcp::reach::Reach;
use acp_chain_rpc::code;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_sandbox::{Gauge, Guest, Total, apart};
use acp_chain_state::Keeper;
use acp_chain_system::handover::Taker;

use acp_chain_remote::User;
use serde_json::json;

/// How many connections may be about to end.
const ENDING: usize = 16;

/// The chains of all users.
pub struct Chains {
    /// A user gets the first chain whose route fits.
    routes: Vec<(Route, Template)>,
    /// The chain of all other users.
    others: Template,
    total: Arc<Total>,
    /// The client of the process that has the stored values, if a proxy stores some.
    keeper: Option<Keeper>,
}

/// Everything needed to start a chain, loaded once.
struct Template {
    supervisor: Supervisor,
    reach: Reach,
    agent: Agent,
    /// The agent's hooks, and what users are told of them before their first prompt.
    hooks: ChainHooks<SharedHooks>,
    /// Whose values the proxies store.
    values: ValuesPlan,
    manifest: Manifest,
    /// The proxies of the manifest, in order, to be started for each chain.
    proxies: Vec<Proxy>,
    sleep_after: Option<Duration>,
    /// What receipts say about each chain, if there are any.
    about: Option<Arc<str>>,
}

enum Agent {
    Program(Startable),
    /// A remote agent, which one process reaches for all chains.
    Shared(Taker),
}

struct Proxy {
    entry: ProxyEntry,
    code: Code,
}

/// What is started of a proxy.
enum Code {
    /// A component, with its registration after the check. It is started when a message for it arrives.
    Component(Guest, Option<Registration>),
    Program(Startable),
    /// A component that cannot be compiled, for this reason.
    Uncompiled(String),
}

impl Chains {
    /// Loads the plans, and allows the supervisor to start only their programs.
    pub async fn load(
        routes: Vec<(Route, Plan)>,
        mut others: Plan,
        supervisor: Supervisor,
        limits: &ServeLimits,
        report: &'static dyn Report,
    ) -> Result<Self, ChainError> {
        let attach = |plan: &mut Plan| {
            let attached = plan.hooks.attach_to_many(plan.agent.as_mut(), &supervisor);
            attached.map_err(|error| {
                let manifest = Untrusted::new(plan.manifest.path.display());
                ChainError::new(format_args!("{manifest}: {error}"))
            })
        };
        let mut plans = Vec::new();
        for (route, mut plan) in routes {
            let hooks = attach(&mut plan)?;
            plans.push((route, plan, hooks));
        }
        let hooks_of_others = attach(&mut others)?;
        let all = plans.iter().map(|(_, plan, _)| plan).chain([&others]);
        let commands: Vec<_> = all.clone().flat_map(Plan::commands).collect();
        for command in &commands {
            warn_of_missing(command, report);
        }
        for plan in all.filter(|plan| plan.proxies.is_empty()) {
            let manifest = Untrusted::new(plan.manifest.path.display());
            report.warns(&format!(
                "no proxy is in the chain of {manifest}, so all messages pass unchanged: name some there, or by `--with`"
            ));
        }
        let connections = usize::try_from(limits.connections).unwrap_or(usize::MAX);
        // Those that have just ended may still hold theirs.
        let connections = connections.saturating_add(ENDING);
        let allowed = supervisor.allow(commands, connections);
        let allowed = allowed.map_err(ChainError::new)?;
        // There may be thousands of connections.
        let mut programs = allowed.into_iter().map(Startable::over_socket);
        let engine = home::engine()?;
        let total = engine.total();
        let host = Arc::new(Host::new(engine));
        let mut load = async |plan, hooks| {
            let (programs, sleep) = (&mut programs, limits.sleep);
            Template::load(&host, plan, hooks, &supervisor, programs, sleep, report).await
        };
        let mut loaded = Vec::new();
        for (route, plan, hooks) in plans {
            loaded.push((route, load(plan, hooks).await?));
        }
        Ok(Self {
            routes: loaded,
            others: load(others, hooks_of_others).await?,
            total,
            keeper: None,
        })
    }

    /// Starts the proxies of each chain once, before clients connect: the operator, not a client, should see their
    /// errors.
    pub async fn check(&mut self) -> Result<(), ChainError> {
        let routes = self.routes.iter_mut().map(|(_, template)| template);
        for template in routes.chain([&mut self.others]) {
            template.check().await?;
        }
        Ok(())
    }

    /// Lets proxies store values in this process. Must be called within the runtime that serves the chains.
    pub fn store_values(&mut self, process: ValuesProcess) -> Result<(), Error> {
        self.keeper = Some(process.keeper()?);
        Ok(())
    }

    /// The total of all chains' instances.
    pub fn total(&self) -> Arc<Total> {
        self.total.clone()
    }

    /// A new chain for a client.
    pub async fn start(&self, role: Role, user: &User) -> Result<Chain, StartError> {
        if role != Role::Agent {
            let message =
                "an agent is served here, so this chain is not a proxy; begin with `initialize`";
            return Err(StartError {
                message: message.to_owned(),
                code: code::INVALID_REQUEST,
            });
        }
        let mut routes = self.routes.iter();
        let route = routes.find(|(route, _)| route.fits(&user.name, &user.groups));
        let template = route.map_or(&self.others, |(_, template)| template);
        let chain = template.chain(user, self.keeper.as_ref());
        chain.await.map_err(|error| error.error)
    }
}

impl Agent {
    /// Starts the process that all chains share, if the agent is remote.
    fn begin(program: Startable) -> io::Result<Self> {
        let command = program.command();
        if !Remote::is_behind(command) {
            return Ok(Self::Program(program));
        }
        let mut shared = command.clone();
        shared.args.push("--shared".into());
        Ok(match Taker::start(&shared)? {
            Some(taker) => Self::Shared(taker),
            None => Self::Program(program),
        })
    }

    /// Whether it runs on another machine.
    fn is_remote(&self) -> bool {
        match self {
            Self::Program(program) => Remote::is_behind(program.command()),
            Self::Shared(_) => true,
        }
    }

    /// The agent of one chain, with the token of its hooks.
    fn start(&self, token: Option<String>) -> Result<ChildIo, ChainError> {
        match self {
            Self::Program(program) => plan::start_agent(&program.clone().with_hook_token(token)),
            Self::Shared(taker) => {
                let (output, input) = taker.open().map_err(|error| {
                    ChainError::new(format_args!(
                        "the process that connects to the agent has ended: {error}"
                    ))
                })?;
                Ok(ChildIo::over(output, input))
            }
        }
    }
}

impl Template {
    async fn load(
        host: &Arc<Host>,
        plan: Plan,
        hooks: ChainHooks<SharedHooks>,
        supervisor: &Supervisor,
        programs: &mut impl Iterator<Item = Startable>,
        sleep_after: Option<Duration>,
        report: &'static dyn Report,
    ) -> Result<Self, ChainError> {
        let program = programs.next();
        let program = program.ok_or_else(|| ChainError::new("no agent is named"))?;
        let agent = Agent::begin(program).map_err(ChainError::new)?;
        let mut proxies = Vec::new();
        if !plan.proxies.is_empty() {
            let host = host.clone();
            let load = move || host.load(plan.proxies, |id, load| report.while_loading(id, load));
            let loaded = apart(load).await;
            for LoadedProxy {
                plan: proxy,
                component,
            } in loaded.map_err(ChainError::new)?
            {
                let entry = proxy.entry;
                let code = match component {
                    Some(Ok(guest)) => Some(Code::Component(guest, None)),
                    Some(Err(error)) if error.is_of_compiling() => {
                        Some(Code::Uncompiled(error.to_string()))
                    }
                    Some(Err(error)) => {
                        return Err(ChainError::new(plan.manifest.about(&entry, &error)));
                    }
                    None => programs.next().map(Code::Program),
                };
                proxies.extend(code.map(|code| Proxy { entry, code }));
            }
        }
        Ok(Self {
            supervisor: supervisor.clone(),
            reach: plan.reach,
            agent,
            hooks,
            values: plan.values,
            manifest: plan.manifest,
            proxies,
            sleep_after,
            about: plan.about,
        })
    }

    /// Starts the proxies once, and keeps their registrations.
    async fn check(&mut self) -> Result<(), ChainError> {
        let mut registrations: HashMap<_, _> = self
            .proxies(None)
            .await?
            .proxies
            .into_iter()
            .filter_map(|member| match member {
                Member::Component(proxy) => Some((proxy.name, proxy.registration)),
                Member::Native(_) => None,
            })
            .collect();
        for Proxy { entry, code } in &mut self.proxies {
            if let Code::Component(_, registration) = code {
                *registration = registrations.remove(&entry.id);
            }
        }
        Ok(())
    }

    async fn chain(&self, user: &User, keeper: Option<&Keeper>) -> Result<Chain, ChainError> {
        let ChainHooks { hooks, notice, .. } = &self.hooks;
        let begun = hooks.as_ref().map(SharedHooks::begin).transpose();
        let (hooks, token) = begun.map_err(ChainError::new)?.unzip();
        let agent = self.agent.start(token)?;
        // Without authentication, users have no name.
        let named = Some(user).filter(|user| !user.name.is_empty());
        let started = self.proxies(named).await?;
        let name = named.map(|user| &*user.name);
        Ok(Chain {
            proxies: started.proxies,
            values: keeper.map(|keeper| self.values.stored(keeper.clone(), name)),
            notices: notice.iter().cloned().chain(started.notices).collect(),
            supervisor: Some(self.supervisor.clone()),
            reach: self.reach,
            hooks,
            is_remote: self.agent.is_remote(),
            about: self.about.clone(),
            ..Chain::new(Vec::new(), agent)
        })
    }

    async fn proxies(&self, user: Option<&User>) -> Result<StartedProxies, ChainError> {
        let user = user.map(|user| json!({"name": user.name, "groups": user.groups}).to_string());
        let user: Option<Arc<str>> = user.map(Into::into);
        let ready = self.proxies.iter().filter_map(|Proxy { entry, code }| {
            let ready = match (code, &entry.kind) {
                (Code::Component(guest, registration), _) => {
                    let guest = Guest {
                        // Each instance has its own memory, counted separately.
                        gauge: Gauge::default(),
                        user: user.clone(),
                        ..guest.clone()
                    };
                    match registration {
                        Some(registration) => Ready::Asleep(guest, registration.clone()),
                        None => Ready::Guest(guest),
                    }
                }
                (Code::Uncompiled(why), _) => Ready::Uncompiled(Failure::new(why.clone())),
                (Code::Program(program), ProxyKind::Native(native)) => {
                    Ready::Native(start_native(entry, native, program.clone()))
                }
                (Code::Program(_), ProxyKind::Component(_)) => return None,
            };
            let entry = entry.clone();
            Some(ReadyProxy { entry, ready })
        });
        let ready: Vec<_> = ready.collect();
        let started = host::start(&self.manifest, ready, self.sleep_after).await;
        started.map_err(ChainError::new)
    }
}

/// Warns of a program that was not found: otherwise the first client would be the one to learn it.
fn warn_of_missing(command: &CommandLine, report: &dyn Report) {
    let is_there = file_of(command).is_some_and(|file| file.is_file());
    if !is_there && which::which(&command.program).is_err() {
        let program = quote(&command.program.to_string_lossy(), MAX_QUOTE);
        report.warns(&format!(
            "the program `{program}` was not found: clients get an error until it is there, or its full path is given"
        ));
    }
}
