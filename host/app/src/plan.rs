//! The steps until a chain runs: it is loaded with all of our rights, and started after they are given up.

use std::path::Path;
use std::sync::Arc;

use acp_chain::host::{self, Host, LoadedProxy, ProxyPlan, Ready, ReadyProxy};
use acp_chain_channel::Failure;
use acp_chain_conductor::native::{CommandLine, Startable, Supervisor};
use acp_chain_conductor::{AgentHooks, Chain, ChildIo, Launch, Native, Program, StoredValues};
use acp_chain_manifest::{Manifest, NativeEntry, ProxyEntry, ProxyKind, Remote, User};
use acp_chain_mcp::reach::Reach;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_sandbox::{ComponentError, Directories, Engine, apart};
use acp_chain_system::directory::Directory;
use acp_chain_system::{Rights, rights};

use crate::hooks::{ChainHooks, HooksPlan};
use crate::project::{Client, Finder};
use crate::values::ValuesPlan;
use crate::{ChainError, Error, Report, home};

/// A chain to be run.
pub struct Plan {
    pub manifest: Manifest,
    /// The proxies of the manifest, in order.
    pub proxies: Vec<ProxyPlan>,
    /// `None` for a chain that is itself a proxy.
    pub agent: Option<CommandLine>,
    /// How the agent reaches MCP servers in the chain.
    pub reach: Reach,
    /// What is wanted of the agent's hooks.
    pub hooks: HooksPlan,
    /// Whose values the proxies store.
    pub values: ValuesPlan,
    /// Whether nothing that proxies do has an effect.
    pub is_dry_run: bool,
    /// How to find the projects of sessions; `None` if sessions have none.
    pub projects: Option<Finder>,
    /// The engine that loads the components; by default, a new one.
    pub engine: Option<Engine>,
    /// What receipts say about the chain, if there are any.
    pub about: Option<Arc<str>>,
}

/// A loaded chain whose programs run, but no component yet.
pub struct LoadedChain {
    supervisor: Option<Supervisor>,
    agent: Option<ChildIo>,
    hooks: ChainHooks<AgentHooks>,
    values: Option<StoredValues>,
    /// Why no values can be stored, if so.
    lacks_values: Option<String>,
    is_dry_run: bool,
    /// Whether the agent runs on another machine.
    is_remote: bool,
    reach: Reach,
    projects: Option<Client>,
    manifest: Manifest,
    /// The proxies of the manifest, in order.
    proxies: Vec<ReadyProxy>,
    /// The directories granted to them.
    directories: Vec<Directories>,
    about: Option<Arc<str>>,
}

/// The programs of a chain that could be started.
#[derive(Default)]
struct Programs {
    agent: Option<ChildIo>,
    hooks: ChainHooks<AgentHooks>,
    /// The native proxies, in order.
    natives: Vec<Result<Native, Failure>>,
    projects: Option<Client>,
}

/// The native proxies among others.
fn natives(proxies: &[ProxyPlan]) -> impl Iterator<Item = (&ProxyEntry, &NativeEntry)> {
    proxies.iter().filter_map(|proxy| match &proxy.entry.kind {
        ProxyKind::Native(native) => Some((&proxy.entry, native)),
        ProxyKind::Component(_) => None,
    })
}

impl Plan {
    /// The programs of the chain: its agent, and its native proxies in order.
    pub fn commands(&self) -> impl Iterator<Item = CommandLine> {
        let natives = natives(&self.proxies).map(|(_, native)| native.command.clone());
        self.agent.iter().cloned().chain(natives)
    }

    /// Whether a proxy may offer the agent tools, for which the host may have to open a bridge.
    pub fn may_offer_tools(&self) -> bool {
        self.proxies.iter().any(|proxy| match &proxy.entry.kind {
            ProxyKind::Component(component) => component.grant.has("tools"),
            ProxyKind::Native(_) => true,
        })
    }

    /// Does everything that needs rights: compiles components, and starts programs and the process that has stored
    /// values. Without a supervisor, there are no programs.
    pub async fn load(
        mut self,
        supervisor: Option<Supervisor>,
        report: &'static dyn Report,
    ) -> Result<LoadedChain, ChainError> {
        let directories = self.proxies.iter().map(|proxy| proxy.directories.clone());
        let directories = directories.collect();
        // Programs start while components are compiled.
        let loading = load(self.engine.take(), self.proxies.clone(), report);
        let started = match &supervisor {
            Some(supervisor) => self.start_programs(supervisor),
            None => self.hooks.elsewhere().map(|hooks| Programs {
                hooks,
                ..Programs::default()
            }),
        };
        let (values, lacks_values) = self.values.begin();
        let loaded = loading.await;
        // Only now: in case of an error, no thread continues.
        let programs = started?;
        let mut natives = programs.natives.into_iter();
        let mut proxies = Vec::new();
        for LoadedProxy { plan, component } in loaded? {
            let wrong = |error: ComponentError| self.manifest.about(&plan.entry, &error);
            let ready = match component {
                Some(component) => Some(Ready::loaded(component).map_err(wrong)),
                None => natives.next().map(|native| Ok(Ready::Native(native))),
            };
            let ready = ready.transpose().map_err(ChainError::new)?;
            let entry = plan.entry;
            proxies.extend(ready.map(|ready| ReadyProxy { entry, ready }));
        }
        Ok(LoadedChain {
            supervisor,
            agent: programs.agent,
            hooks: programs.hooks,
            values,
            lacks_values,
            is_dry_run: self.is_dry_run,
            is_remote: self.agent.as_ref().is_some_and(Remote::is_behind),
            reach: self.reach,
            projects: programs.projects,
            manifest: self.manifest,
            proxies,
            directories,
            about: self.about,
        })
    }

    /// Starts the agent, and the native proxies in order. The finder of projects is started when needed.
    fn start_programs(&mut self, supervisor: &Supervisor) -> Result<Programs, ChainError> {
        let hooks = self.hooks.attach(self.agent.as_mut(), supervisor)?;
        let projects = self.projects.take();
        let finding = projects.iter().flat_map(Finder::commands);
        let allowed = supervisor.allow(finding.chain(self.commands()).collect(), 1);
        let mut programs = allowed.map_err(ChainError::new)?.into_iter();
        let projects = projects.and_then(|finder| {
            let both = [programs.next()?, programs.next()?];
            Some(finder.client(both, hooks.attached()))
        });
        let agent = self.agent.as_ref().and_then(|_| programs.next());
        let agent = agent.map(|program| start_agent(&program)).transpose()?;
        let started = natives(&self.proxies).zip(programs);
        let started =
            started.map(|((entry, native), program)| start_native(entry, native, program));
        Ok(Programs {
            agent,
            hooks,
            natives: started.collect(),
            projects,
        })
    }
}

/// Starts to load the components of proxies, with this engine if one is given. Fails if there is no engine.
pub fn load(
    engine: Option<Engine>,
    proxies: Vec<ProxyPlan>,
    report: &'static dyn Report,
) -> impl Future<Output = Result<Vec<LoadedProxy>, Error>> + use<> {
    let loaded = (!proxies.is_empty()).then(|| {
        apart(move || {
            let engine = engine.map_or_else(home::engine, Ok)?;
            let host = Host::new(engine);
            Ok(host.load(proxies, |id, load| report.while_loading(id, load)))
        })
    });
    async {
        match loaded {
            Some(loaded) => loaded.await.map_err(Error::Io)?,
            None => Ok(Vec::new()),
        }
    }
}

/// Gives up all rights except those granted to the proxies. Loading, compiling and starting programs need more, and
/// precede this; code of proxies runs only after it. `live` is the folder of the sockets for watchers, which are
/// removed at the end.
pub fn give_up_rights<'d>(
    directories: impl IntoIterator<Item = &'d Directories>,
    live: Option<&Directory>,
) -> Rights {
    let directories = directories.into_iter();
    let kept: Vec<_> = directories.flat_map(Directories::handles).collect();
    let given_up = rights::give_up(&kept, live);
    tracing::info!("from now on acp-chain itself {given_up}");
    given_up
}

impl LoadedChain {
    /// Keeps the rights to further directories, which no proxy gets.
    pub fn keep(&mut self, directories: impl IntoIterator<Item = Directories>) {
        self.directories.extend(directories);
    }

    /// Gives up our rights, except removing sockets from this folder, then starts the components. If that fails, the
    /// rights remain given up.
    pub async fn start(self, live: Option<&Directory>) -> Result<Chain, ChainError> {
        give_up_rights(&self.directories, live);
        self.run().await
    }

    /// Starts the components, and keeps our rights.
    pub async fn run(self) -> Result<Chain, ChainError> {
        let started = host::start(&self.manifest, self.proxies, None).await;
        let started = started.map_err(ChainError::new)?;
        let notices = self.hooks.notice.into_iter().chain(self.lacks_values);
        Ok(Chain {
            proxies: started.proxies,
            agent: self.agent.map(Into::into),
            notices: notices.chain(started.notices).collect(),
            supervisor: self.supervisor,
            reach: self.reach,
            hooks: self.hooks.hooks,
            projects: self.projects.map(|projects| Box::new(projects) as _),
            values: self.values,
            is_dry_run: self.is_dry_run,
            is_remote: self.is_remote,
            about: self.about,
        })
    }
}

/// Starts the agent.
pub fn start_agent(program: &Startable) -> Result<ChildIo, ChainError> {
    ChildIo::start(program, None).map_err(|error| ChainError::program(&error))
}

/// Starts a native proxy.
pub fn start_native(
    entry: &ProxyEntry,
    native: &NativeEntry,
    program: Startable,
) -> Result<Native, Failure> {
    let id = entry.id.clone();
    let mut launch: Launch = Box::new(move || {
        let io = ChildIo::start(&program, Some(&id));
        io.map_err(|error| Failure::new(error.to_string()))
    });
    Ok(Native {
        name: entry.id.clone(),
        dialect: native.dialect,
        on_failure: entry.on_failure.unwrap_or_default(),
        sees_tool_runs: false,
        program: Some(Program {
            io: launch()?,
            launch,
        }),
    })
}

/// Starts the supervisor, which starts programs and opens sockets for this process.
pub fn supervise(program: &Path) -> Result<Supervisor, ChainError> {
    Supervisor::start(program).map_err(|error| {
        let program = Untrusted::new(program.display());
        ChainError::new(format_args!(
            "`{program} supervise` cannot be started: {error}"
        ))
    })
}

/// Fails if the manifest has a native proxy, and the user does not allow native proxies.
pub fn check_grant(manifest: &Manifest, user: &User) -> Result<(), Error> {
    match manifest.natives().next().filter(|_| !user.native) {
        Some((entry, _)) => {
            let wrong = format!("it is a program with all of your rights: {}", not_granted());
            Err(Error::Proxy(manifest.about(entry, &wrong)))
        }
        None => Ok(()),
    }
}

/// Why a program is not accepted as a proxy, and how to allow it.
pub fn not_granted() -> String {
    let file = match home::config_file() {
        Some(path) => quote(&path.display().to_string(), MAX_QUOTE),
        None => "your config.toml, for which you need a home folder".to_owned(),
    };
    format!("no sandbox holds it; to let programs be proxies, write `native = true` into {file}")
}
