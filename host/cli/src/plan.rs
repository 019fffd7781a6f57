//! The steps until a chain runs: it is loaded with all of our rights, and started after they are given up.

use std::fmt::Display;

use super::give_up_rights;
use super::progress::Progress;
use super::project::client::{self, Finding};
use acp_chain::host::{self, Host, Ready};
use acp_chain_channel::Failure;
use acp_chain_conductor::native::{CommandLine, Startable, Supervisor};
use acp_chain_conductor::{Chain, ChildIo, Launch, Native, Program, StartError};
use acp_chain_manifest::{Manifest, NativeEntry, ProxyEntry};
use acp_chain_mcp::reach::Reach;
use acp_chain_rpc::code;
use acp_chain_sandbox::{Directories, Engine, EngineError, apart};
use acp_chain_system::directory::Directory;

/// Why a chain does not run, and the exit code.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The error for the client.
    pub error: StartError,
    pub exit_code: u8,
}

/// A chain to be run.
pub struct Plan {
    /// `None` for a chain without proxies.
    pub manifest: Option<Manifest>,
    /// The directories granted to its proxies, in order.
    pub directories: Vec<Directories>,
    /// `None` for a chain that is itself a proxy.
    pub agent: Option<CommandLine>,
    /// How the agent reaches MCP servers in the chain.
    pub reach: Reach,
    /// How to find the projects of sessions; `None` if sessions have none.
    pub projects: Option<Finding>,
    /// The engine that loads the components; by default, a new one.
    pub engine: Option<Engine>,
}

/// A loaded chain whose programs run, but no component yet.
pub struct Loaded {
    supervisor: Option<Supervisor>,
    agent: Option<ChildIo>,
    reach: Reach,
    projects: Option<client::Client>,
    manifest: Option<Manifest>,
    directories: Vec<Directories>,
    /// The proxies of the manifest, in order.
    proxies: Vec<Ready>,
}

/// The programs of a chain that could be started.
#[derive(Default)]
struct Programs {
    agent: Option<ChildIo>,
    /// The native proxies, in order.
    natives: Vec<Result<Native, Failure>>,
    projects: Option<client::Client>,
}

impl Plan {
    /// Does everything that needs rights: compiles components, and starts programs. Without a supervisor, there are no
    /// programs.
    pub async fn load(mut self, supervisor: Option<Supervisor>) -> Result<Loaded, Failed> {
        // Programs start while components are compiled.
        let manifest = self.manifest.as_ref();
        let loading =
            manifest.map(|manifest| load_by(self.engine.clone(), manifest, &self.directories));
        let projects = self.projects.take();
        let started = match &supervisor {
            Some(supervisor) => self.start_programs(supervisor, projects),
            None => Ok(Programs::default()),
        };
        let guests = match loading {
            Some(loading) => loading.await,
            None => Ok(Vec::new()),
        };
        // Only now: in case of an error, no thread continues.
        let programs = started?;
        let guests = guests.map_err(|error| failed(&error))?;
        let mut natives = programs.natives.into_iter();
        let mut proxies = Vec::new();
        if let Some(manifest) = manifest {
            for (entry, guest) in manifest.proxies.iter().zip(guests) {
                let guest = guest.map(Ready::loaded).transpose();
                let guest = guest.map_err(|error| failed(&manifest.about(entry, &error)))?;
                let native = || natives.next().map(Ready::Native);
                proxies.extend(guest.or_else(native));
            }
        }
        Ok(Loaded {
            supervisor,
            agent: programs.agent,
            reach: self.reach,
            projects: programs.projects,
            manifest: self.manifest,
            directories: self.directories,
            proxies,
        })
    }

    /// Starts the agent, and the native proxies in order. The finder of projects is started when needed.
    fn start_programs(
        &self,
        supervisor: &Supervisor,
        projects: Option<Finding>,
    ) -> Result<Programs, Failed> {
        let natives = || self.manifest.iter().flat_map(Manifest::natives);
        let commands = natives().map(|(_, native)| native.command.clone());
        let finding = projects.iter().flat_map(Finding::commands);
        let commands = finding.chain(self.agent.iter().cloned()).chain(commands);
        let allowed = supervisor.allow(commands.collect());
        let mut programs = allowed.map_err(|error| failed(&error))?.into_iter();
        let projects = projects.and_then(|finding| {
            let both = [programs.next()?, programs.next()?];
            Some(finding.client(both))
        });
        let agent = self.agent.as_ref().and_then(|_| programs.next());
        let agent = agent.map(|program| start_agent(&program)).transpose()?;
        let started = natives().zip(programs);
        let started =
            started.map(|((entry, native), program)| start_native(entry, native, program));
        Ok(Programs {
            agent,
            natives: started.collect(),
            projects,
        })
    }
}

/// Starts to load the components of a manifest. An error if that is impossible.
pub fn load(
    manifest: &Manifest,
    directories: &[Directories],
) -> impl Future<Output = Result<Vec<host::Loaded>, String>> + use<> {
    load_by(None, manifest, directories)
}

/// Starts to load the components of a manifest, with this engine if one is given.
fn load_by(
    engine: Option<Engine>,
    manifest: &Manifest,
    directories: &[Directories],
) -> impl Future<Output = Result<Vec<host::Loaded>, String>> + use<> {
    let (manifest, directories) = (manifest.clone(), directories.to_vec());
    let loaded = apart(move || {
        if manifest.proxies.is_empty() {
            return Ok(Vec::new());
        }
        let engine = engine.map_or_else(super::engine, Ok)?;
        Ok::<_, EngineError>(load_now(&Host::new(engine), &manifest, &directories))
    });
    async {
        let loaded = loaded.await.map_err(|error| error.to_string())?;
        loaded.map_err(|error| error.to_string())
    }
}

/// Loads the components of a manifest into a host, and shows progress.
pub fn load_now(
    host: &Host,
    manifest: &Manifest,
    directories: &[Directories],
) -> Vec<host::Loaded> {
    let progress = Progress::default();
    let loading = |id: &str, load: &mut dyn FnMut()| progress.while_loading(id, load);
    host.load(manifest, directories, loading)
}

impl Loaded {
    /// Gives up our rights, except removing sockets from this folder, then starts the components. If that fails, the
    /// rights remain given up.
    pub async fn start(self, live: Option<&Directory>) -> Result<Chain, Failed> {
        give_up_rights(&self.directories, live);
        self.run().await
    }

    /// Starts the components, and keeps our rights.
    pub async fn run(self) -> Result<Chain, Failed> {
        let mut chain = Chain {
            proxies: Vec::new(),
            agent: self.agent.map(Into::into),
            notices: Vec::new(),
            supervisor: self.supervisor,
            reach: self.reach,
            projects: self.projects.map(|projects| Box::new(projects) as _),
        };
        let Some(manifest) = self.manifest else {
            return Ok(chain);
        };
        let started = host::start(&manifest, self.proxies, None).await;
        let started = started.map_err(|error| failed(&error))?;
        chain.proxies = started.proxies;
        chain.notices = started.notices;
        Ok(chain)
    }
}

/// Starts the agent.
pub fn start_agent(program: &Startable) -> Result<ChildIo, Failed> {
    ChildIo::start(program, None).map_err(|error| Failed {
        exit_code: error.exit_code(),
        ..failed(&error)
    })
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
        program: Some(Program {
            io: launch()?,
            launch,
        }),
    })
}

/// An error of the chain, for the client.
pub fn failed(error: &dyn Display) -> Failed {
    Failed {
        error: StartError {
            message: error.to_string(),
            code: code::INTERNAL_ERROR,
        },
        exit_code: 1,
    }
}
