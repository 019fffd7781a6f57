//! What a chain is made of, on its way to run: loaded with all of our rights, started with few.

use std::fmt::Display;
use std::io;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::progress::Progress;
use super::project::client::{self, Finding};
use super::{give_up_rights, guest};
use crate::chain::{
    self, Chain, ChildIo, Launch, Member, Native, Program, Proxy, StartError, Terms,
};
use crate::channel::{Failure, FailurePolicy, Source};
use crate::extension::Location;
use crate::manifest::{Make, Manifest, NativeEntry, Order, ProxyEntry};
use crate::mcp::door::Transport;
use crate::native::{CommandLine, Process, SpawnError, Startable, Supervisor};
use crate::rpc::code;
use crate::sandbox::{Component, ComponentError, Directories, Engine, EngineError, Guest, apart};
use crate::untrusted::Untrusted;

/// What is to run.
pub struct Plan {
    /// Without one, there are no proxies.
    pub manifest: Option<Manifest>,
    /// What its proxies are given, in its order.
    pub directories: Vec<Directories>,
    /// None for a chain that is itself a proxy.
    pub agent: Option<CommandLine>,
    /// How the agent gets to MCP servers in the chain.
    pub bridge: Transport,
    /// How the projects of sessions are found; without it, there are none.
    pub projects: Option<Finding>,
}

/// What is loaded, and the programs of which run, but no component.
pub struct Loaded {
    supervisor: Option<Supervisor>,
    agent: Option<ChildIo>,
    bridge: Transport,
    projects: Option<client::Client>,
    manifest: Option<Manifest>,
    directories: Vec<Directories>,
    /// Those of the manifest, in its order.
    proxies: Vec<Ready>,
}

/// A proxy on its way into the chain.
enum Ready {
    Guest(Guest),
    Native(Result<Native, Failure>),
}

/// The programs of a chain, as far as they could be started.
#[derive(Default)]
struct Programs {
    agent: Option<ChildIo>,
    /// In their order.
    natives: Vec<Result<Native, Failure>>,
    projects: Option<client::Client>,
}

/// The component of a proxy, ready to be started; none of one that is a program.
pub type Compiled = Option<Result<Guest, ComponentError>>;

impl Plan {
    /// Everything that takes rights: compiles components, and starts programs. Without a supervisor, there are none.
    pub async fn load(mut self, supervisor: Option<Supervisor>) -> Result<Loaded, StartError> {
        // Programs start while components are compiled.
        let manifest = self.manifest.as_ref();
        let compiling = manifest.map(|manifest| compile(manifest, &self.directories));
        let projects = self.projects.take();
        let started = match &supervisor {
            Some(supervisor) => self.start_programs(supervisor, projects),
            None => Ok(Programs::default()),
        };
        let compiled = match compiling {
            Some(compiling) => compiling.await,
            None => Ok(Vec::new()),
        };
        // Only now: whatever is wrong, no thread goes on.
        let programs = started?;
        let compiled = compiled.map_err(|error| failed(&error))?;
        let mut natives = programs.natives.into_iter();
        let mut proxies = Vec::new();
        if let Some(manifest) = manifest {
            for (entry, compiled) in manifest.proxies.iter().zip(compiled) {
                let guest = compiled.transpose();
                let guest = guest.map_err(|error| failed(&manifest.about(entry, &error)))?;
                let native = || natives.next().map(Ready::Native);
                proxies.extend(guest.map(Ready::Guest).or_else(native));
            }
        }
        Ok(Loaded {
            supervisor,
            agent: programs.agent,
            bridge: self.bridge,
            projects: programs.projects,
            manifest: self.manifest,
            directories: self.directories,
            proxies,
        })
    }

    /// Starts the agent, and the native proxies in their order. What finds projects is started when it is needed.
    fn start_programs(
        &self,
        supervisor: &Supervisor,
        projects: Option<Finding>,
    ) -> Result<Programs, StartError> {
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

/// Compiles the components of a manifest side by side, beginning now. An error if that cannot be.
pub fn compile(
    manifest: &Manifest,
    directories: &[Directories],
) -> impl Future<Output = Result<Vec<Compiled>, String>> + use<> {
    let proxies = manifest.proxies.iter().cloned().zip(directories.to_vec());
    let proxies: Vec<_> = proxies.collect();
    let compiled = apart(move || {
        if proxies.is_empty() {
            return Ok(Vec::new());
        }
        let engine = super::engine()?;
        let progress = Progress::default();
        let compile = |(entry, directories): (ProxyEntry, Directories)| match &entry.make {
            Make::Native(_) => None,
            Make::Component(terms) => {
                let component =
                    progress.while_loading(&entry.id, || load(&engine, &terms.location));
                let guest = |component| guest(&engine, &entry, terms, component, directories);
                Some(component.map(guest))
            }
        };
        Ok::<_, EngineError>(proxies.into_par_iter().map(compile).collect())
    });
    async {
        let compiled = compiled.await.map_err(|error| error.to_string())?;
        compiled.map_err(|error| error.to_string())
    }
}

/// Loads a component from wherever it is.
pub fn load(engine: &Engine, location: &Location) -> Result<Component, ComponentError> {
    match location {
        Location::File(path) => Component::load(engine, path),
        Location::Stored(stored) => {
            let read = || stored.read().map_err(io::Error::other);
            Component::kept(engine, &stored.digest.to_string(), &stored.path, read)
        }
        Location::Read(_, component) => Component::compile(engine, component),
        Location::Carried(extension) => {
            let (program, code) = extension.code()?;
            Component::carried(engine, extension.component()?, &program, &code)
        }
    }
}

impl Loaded {
    /// Gives up our rights, then lets components run. That is for good, also if it fails.
    pub async fn start(self) -> Result<Chain, StartError> {
        give_up_rights(&self.directories);
        let mut chain = Chain {
            proxies: Vec::new(),
            agent: self.agent,
            notices: Vec::new(),
            supervisor: self.supervisor,
            bridge: self.bridge,
            projects: self.projects.map(|projects| Box::new(projects) as _),
        };
        let Some(manifest) = self.manifest else {
            return Ok(chain);
        };
        for (entry, ready) in manifest.proxies.iter().zip(self.proxies) {
            let started = match ready {
                Ready::Guest(guest) => start(entry, guest).await.map(Member::from),
                Ready::Native(native) => native.map(Member::from),
            };
            match started {
                Ok(proxy) => chain.proxies.push(proxy),
                Err(failure) => {
                    let (id, details) = (&entry.id, failure.details());
                    tracing::error!("the proxy `{id}` did not start: {failure}{details}");
                    if entry.on_failure != Some(FailurePolicy::Bypass) {
                        let wrong = format!("it did not start: {failure}");
                        return Err(failed(&manifest.about(entry, &wrong)));
                    }
                    let reason = &failure.reason;
                    chain.notices.push(format!(
                        "the proxy `{id}` did not start: {reason}. Everything passes it by."
                    ));
                }
            }
        }
        match manifest.order {
            Order::Checked => {
                check_order(&manifest, &chain.proxies).map_err(|error| failed(&error))?;
            }
            Order::AsWritten => {}
            // All others stay in their order, and so do the guards.
            Order::GuardsLast => chain.proxies.sort_by_key(Member::is_guard),
        }
        Ok(chain)
    }
}

async fn start(entry: &ProxyEntry, guest: Guest) -> Result<Proxy, Failure> {
    let started = guest.start(1, None).await?;
    let registration = &started.registration;
    for subscription in &registration.subscriptions {
        tracing::debug!(proxy = entry.id, "asks for {subscription}");
    }
    if !registration.offers.is_empty() && !guest.grant.has("tools") {
        let (id, offers) = (&entry.id, registration.offers);
        tracing::warn!(
            "the proxy `{id}` has {offers}, which the agent does not get: it lacks the power `tools`"
        );
    }
    Ok(Proxy {
        name: entry.id.clone(),
        terms: Terms {
            limits: guest.limits.clone(),
            grant: guest.grant.clone(),
            on_failure: entry.on_failure.unwrap_or(registration.on_failure),
        },
        started,
        source: Box::new(guest),
    })
}

fn start_agent(program: &Startable) -> Result<ChildIo, StartError> {
    link(program, None).map_err(|error| StartError {
        message: error.to_string(),
        code: code::INTERNAL_ERROR,
        exit_code: error.exit_code(),
    })
}

fn start_native(
    entry: &ProxyEntry,
    native: &NativeEntry,
    program: Startable,
) -> Result<Native, Failure> {
    let id = entry.id.clone();
    let mut launch: Launch = Box::new(move || {
        let link = link(&program, Some(&id));
        link.map_err(|error| Failure::new(error.to_string()))
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

/// Starts a program, of the agent or of a proxy.
fn link(program: &Startable, proxy: Option<&str>) -> Result<ChildIo, SpawnError> {
    let (process, input, output) = Process::start(program, proxy)?;
    Ok(ChildIo {
        output: Box::new(output),
        input: Box::new(input),
        process: Some(process),
    })
}

/// An error if a guard does not stand next to the agent.
fn check_order(manifest: &Manifest, proxies: &[Member]) -> Result<(), String> {
    let order = proxies.iter().map(|proxy| (proxy.name(), proxy.is_guard()));
    let manifest = Untrusted::new(manifest.path.display());
    chain::check_order(order).map_err(|error| format!("{manifest}: {error}"))
}

/// What is wrong with the chain, for the client.
pub fn failed(error: &dyn Display) -> StartError {
    StartError {
        message: error.to_string(),
        code: code::INTERNAL_ERROR,
        exit_code: 1,
    }
}
