//! `acp-chain run`: what editors launch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tokio::task::JoinHandle;

use super::progress::Progress;
use super::relied_on::{self, Named};
use super::{folders, guest, open, words};
use crate::chain::{
    self, AgentLink, Chain, Client, Launch, Member, Native, Program, Proxy, Role, Settings,
    StartError, Terms,
};
use crate::channel::{Failure, FailurePolicy, Source, Started};
use crate::manifest::{ComponentEntry, Make, Manifest, NativeEntry, ProxyEntry, User};
use crate::native::{AgentCommand, Process};
use crate::rpc::code;
use crate::sandbox::{Component, ComponentError, Directories, Guest};
use crate::system::{stdio, stop};
use crate::trace::Trace;
use crate::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The manifest; without it the chain has no proxies
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Append each message that crosses from one part of the chain to the next to this file, one
    /// JSON object a line. It will hold everything that is said, secrets included
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The agent's command and its arguments; without it the manifest's agent. Started by a conductor
    /// as one of its proxies, it takes none
    #[arg(last = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

impl Run {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let served = match runtime {
            Ok(runtime) => {
                let served = runtime.block_on(self.serve(log));
                // A thread that reads a terminal, or compiles, would be waited for.
                runtime.shutdown_background();
                served
            }
            Err(error) => Err(format!("the runtime does not start: {error}")),
        };
        match served {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                eprintln!("acp-chain: {error}");
                ExitCode::from(2)
            }
        }
    }

    async fn serve(self, log: Option<PathBuf>) -> Result<u8, String> {
        let trace = match &self.trace {
            None => None,
            Some(path) => Some(Trace::open(path).map_err(|error| {
                format!(
                    "the trace file {} cannot be opened: {error}",
                    Untrusted::new(path.display())
                )
            })?),
        };
        let settings = Settings {
            trace,
            log: log.clone(),
            ..Settings::default()
        };
        let unusable = |error| format!("standard input or output cannot be used: {error}");
        let client = Client {
            output: stdio::input().map_err(unusable)?,
            input: stdio::output().map_err(unusable)?,
        };
        let exit = chain::serve(
            client,
            async |role| self.start(role, log.as_deref()).await,
            stop::requested(),
            settings,
        )
        .await;
        Ok(exit.code)
    }

    async fn start(&self, role: Role, log: Option<&Path>) -> Result<Chain, StartError> {
        folders::check_owners().map_err(|error| failed(&error))?;
        let manifest = match &self.manifest {
            Some(path) => {
                let user = super::user().map_err(|error| failed(&error))?;
                let manifest = Manifest::read(path, &user).map_err(|error| failed(&error))?;
                check_grant(&manifest, &user)?;
                Some(manifest)
            }
            None => None,
        };
        let directories = match &manifest {
            Some(manifest) => self.open(manifest, log).map_err(|error| failed(&error))?,
            None => Vec::new(),
        };
        // The agent starts while the components are loaded.
        let agent = match role {
            Role::Agent => Some(start_agent(&self.command(manifest.as_ref())?)?),
            Role::Proxy(_) if self.agent.is_empty() => None,
            Role::Proxy(dialect) => {
                return Err(StartError {
                    message: format!(
                        "an agent is named, so this chain is no proxy, and does not know {}; leave out the \
                         command behind `--`",
                        dialect.initialize()
                    ),
                    code: code::INVALID_REQUEST,
                    exit_code: 2,
                });
            }
        };
        let (proxies, notices) = match manifest {
            Some(manifest) => start_proxies(&manifest, directories).await?,
            None => (Vec::new(), Vec::new()),
        };
        Ok(Chain {
            proxies,
            agent,
            notices,
        })
    }

    /// Opens the directories of all proxies, in the manifest's order.
    fn open(&self, manifest: &Manifest, log: Option<&Path>) -> Result<Vec<Directories>, String> {
        let directories = open(manifest)?;
        let files = log.into_iter().chain(self.trace.as_deref());
        let named = Named {
            agent: self.command(Some(manifest)).ok(),
            files: files.map(Path::to_owned).collect(),
        };
        relied_on::check(manifest, &directories, &named)?;
        Ok(directories)
    }

    fn command(&self, manifest: Option<&Manifest>) -> Result<AgentCommand, StartError> {
        if let Some((program, args)) = self.agent.split_first() {
            return Ok(AgentCommand {
                program: program.clone(),
                args: args.to_vec(),
                env: Vec::new(),
            });
        }
        manifest
            .and_then(|manifest| manifest.agent.clone())
            .ok_or_else(|| StartError {
                message: "no agent is named; give its command behind `--`, or in the manifest's \
                      `[agent]`, or let a conductor start this as a proxy"
                    .to_owned(),
                code: code::INTERNAL_ERROR,
                exit_code: 2,
            })
    }
}

fn start_agent(command: &AgentCommand) -> Result<AgentLink, StartError> {
    let spawned = Process::spawn(command, None);
    let (process, input, output) = spawned.map_err(|error| StartError {
        message: error.to_string(),
        code: code::INTERNAL_ERROR,
        exit_code: error.exit_code(),
    })?;
    Ok(AgentLink {
        output: Box::new(output),
        input: Box::new(input),
        process: Some(process),
    })
}

/// The proxies of a manifest, and what the user is to be told of those that are not there.
async fn start_proxies(
    manifest: &Manifest,
    directories: Vec<Directories>,
) -> Result<(Vec<Member>, Vec<String>), StartError> {
    let (mut proxies, mut notices) = (Vec::new(), Vec::new());
    if manifest.proxies.is_empty() {
        return Ok((proxies, notices));
    }
    let engine = super::engine().map_err(|error| failed(&error))?;
    let progress = Progress::default();
    // Programs start while components are loaded.
    let starting: Vec<_> = manifest
        .proxies
        .iter()
        .map(|entry| match &entry.make {
            Make::Component(component) => {
                let (engine, path) = (engine.clone(), component.path.clone());
                let (id, progress) = (entry.id.clone(), progress.clone());
                let load = move || progress.while_loading(&id, || Component::load(&engine, &path));
                Starting::Component(component, tokio::task::spawn_blocking(load))
            }
            Make::Native(native) => {
                let mut launch = launch(&entry.id, native);
                let link = launch();
                Starting::Native(native, launch, link)
            }
        })
        .collect();
    let entries = manifest.proxies.iter().zip(starting);
    for ((entry, starting), directories) in entries.zip(directories) {
        let started = match starting {
            Starting::Component(terms, loading) => {
                let component = loading.await.map_err(|error| failed(&error))?;
                let component =
                    component.map_err(|error| failed(&manifest.about(entry, &error)))?;
                let guest = guest(&engine, entry, terms, component, directories);
                let started = guest.start(1, None).await;
                started.map(|started| new_proxy(entry, terms, guest, started).into())
            }
            Starting::Native(native, launch, link) => link.map(|link| {
                let native = Native {
                    name: entry.id.clone(),
                    dialect: native.dialect,
                    on_failure: entry.on_failure.unwrap_or_default(),
                    program: Some(Program { link, launch }),
                };
                native.into()
            }),
        };
        match started {
            Ok(started) => proxies.push(started),
            Err(failure) => {
                let (id, details) = (&entry.id, failure.details());
                tracing::error!("the proxy `{id}` did not start: {failure}{details}");
                if entry.on_failure != Some(FailurePolicy::Bypass) {
                    let wrong = format!("it did not start: {failure}");
                    return Err(failed(&manifest.about(entry, &wrong)));
                }
                let reason = &failure.reason;
                notices.push(format!(
                    "the proxy `{id}` did not start: {reason}. Everything passes it by."
                ));
            }
        }
    }
    check_order(manifest, &proxies).map_err(|error| failed(&error))?;
    Ok((proxies, notices))
}

/// An error if a guard does not stand next to the agent, and the manifest does not say that it may.
fn check_order(manifest: &Manifest, proxies: &[Member]) -> Result<(), String> {
    let order = chain::check_order(proxies.iter().map(|proxy| (proxy.name(), proxy.is_guard())));
    match order {
        Err(error) if !manifest.as_written => Err(format!(
            "{}: {error}",
            Untrusted::new(manifest.path.display())
        )),
        _ => Ok(()),
    }
}

/// A proxy on its way into the chain.
enum Starting<'m> {
    Component(
        &'m ComponentEntry,
        JoinHandle<Result<Component, ComponentError>>,
    ),
    Native(&'m NativeEntry, Launch, Result<AgentLink, Failure>),
}

/// What starts a program, as often as it takes.
fn launch(id: &str, native: &NativeEntry) -> Launch {
    let (id, command) = (id.to_owned(), native.command.clone());
    Box::new(move || {
        let spawned = Process::spawn(&command, Some(&id));
        let (process, input, output) = spawned.map_err(|error| Failure::new(error.to_string()))?;
        Ok(AgentLink {
            output: Box::new(output),
            input: Box::new(input),
            process: Some(process),
        })
    })
}

/// An error if the manifest has a program among its proxies, and the user does not let it.
fn check_grant(manifest: &Manifest, user: &User) -> Result<(), StartError> {
    let mut entries = manifest.proxies.iter();
    let native = entries.find(|entry| matches!(entry.make, Make::Native(_)));
    match native.filter(|_| !user.native) {
        Some(entry) => {
            let file = folders::config_file();
            let wrong = format!(
                "it is a program with all of your rights: {}",
                words::not_granted(file.as_deref())
            );
            Err(failed(&manifest.about(entry, &wrong)))
        }
        None => Ok(()),
    }
}

fn new_proxy(
    entry: &ProxyEntry,
    component: &ComponentEntry,
    guest: Guest,
    started: Started,
) -> Proxy {
    let registration = &started.registration;
    for subscription in &registration.subscriptions {
        tracing::debug!(proxy = entry.id, "asks for {subscription}");
    }
    if registration.tools && !component.grant.has("tools") {
        let id = &entry.id;
        tracing::warn!(
            "the proxy `{id}` has tools, which the agent does not get: it lacks the power `tools`"
        );
    }
    Proxy {
        name: entry.id.clone(),
        terms: Terms {
            limits: component.limits.clone(),
            grant: component.grant.clone(),
            on_failure: entry.on_failure.unwrap_or(registration.on_failure),
        },
        started,
        source: Box::new(guest),
    }
}

fn failed(error: &dyn std::fmt::Display) -> StartError {
    StartError {
        message: error.to_string(),
        code: code::INTERNAL_ERROR,
        exit_code: 1,
    }
}
