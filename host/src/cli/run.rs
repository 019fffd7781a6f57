//! `acp-chain run`: what editors launch.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::chain::{self, AgentLink, Chain, Client, Proxy, Settings, StartError};
use crate::manifest::{Manifest, ProxyEntry};
use crate::native::{AgentCommand, Process, stdio};
use crate::sandbox::{Component, Engine, Instance};
use crate::trace::Trace;

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The manifest; without it the chain has no proxies
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Append each message that crosses from one part of the chain to the next to this file, one
    /// JSON object a line. It will hold everything that is said, secrets included
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The agent's command and its arguments; without it the manifest's agent
    #[arg(last = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

impl Run {
    pub fn main(self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let served = match runtime {
            Ok(runtime) => {
                let served = runtime.block_on(self.serve());
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

    async fn serve(self) -> Result<u8, String> {
        let trace = match &self.trace {
            None => None,
            Some(path) => Some(Trace::open(path).map_err(|error| {
                format!(
                    "the trace file {} cannot be opened: {error}",
                    path.display()
                )
            })?),
        };
        let settings = Settings {
            trace,
            ..Settings::default()
        };
        let unusable = |error| format!("standard input or output cannot be used: {error}");
        let client = Client {
            output: stdio::input().map_err(unusable)?,
            input: stdio::output().map_err(unusable)?,
        };
        let exit = chain::serve(client, async || self.start().await, stopped(), settings).await;
        Ok(exit.code)
    }

    async fn start(&self) -> Result<Chain, StartError> {
        let manifest = match &self.manifest {
            Some(path) => Some(Manifest::read(path).map_err(|error| failed(&error))?),
            None => None,
        };
        let command = self.command(manifest.as_ref())?;
        // The agent starts while the components are loaded.
        let (process, input, output) = Process::spawn(&command).map_err(|error| StartError {
            message: error.to_string(),
            exit_code: error.exit_code(),
        })?;
        let proxies = match manifest {
            Some(manifest) => start_proxies(&manifest).await?,
            None => Vec::new(),
        };
        Ok(Chain {
            proxies,
            agent: AgentLink {
                output: Box::new(output),
                input: Box::new(input),
                process: Some(process),
            },
        })
    }

    fn command(&self, manifest: Option<&Manifest>) -> Result<AgentCommand, StartError> {
        if let Some((program, args)) = self.agent.split_first() {
            return Ok(AgentCommand {
                program: program.clone(),
                args: args.to_vec(),
            });
        }
        manifest
            .and_then(|manifest| manifest.agent.clone())
            .ok_or_else(|| StartError {
                message: "no agent is named; give its command behind `--`, or in the manifest's \
                      `[agent]`"
                    .to_owned(),
                exit_code: 2,
            })
    }
}

async fn start_proxies(manifest: &Manifest) -> Result<Vec<Proxy>, StartError> {
    if manifest.proxies.is_empty() {
        return Ok(Vec::new());
    }
    let engine = super::engine().map_err(|error| failed(&error))?;
    let loading: Vec<_> = manifest
        .proxies
        .iter()
        .map(|entry| {
            let (engine, path) = (engine.clone(), entry.path.clone());
            tokio::task::spawn_blocking(move || Component::load(&engine, &path))
        })
        .collect();
    let mut proxies = Vec::new();
    for (entry, loading) in manifest.proxies.iter().zip(loading) {
        let component = loading.await.map_err(|error| failed(&error))?;
        let component = component.map_err(|error| failed(&manifest.about(entry, &error)))?;
        proxies.push(start_proxy(&engine, &component, manifest, entry).await?);
    }
    Ok(proxies)
}

async fn start_proxy(
    engine: &Engine,
    component: &Component,
    manifest: &Manifest,
    entry: &ProxyEntry,
) -> Result<Proxy, StartError> {
    let limits = entry.limits.clone();
    let started = Instance::start(engine, component, &entry.id, &entry.config, limits).await;
    let (instance, subscriptions) = started
        .map_err(|reason| failed(&manifest.about(entry, &format!("it did not start: {reason}"))))?;
    for subscription in &subscriptions {
        tracing::debug!(proxy = entry.id, "sees {subscription}");
    }
    Ok(Proxy {
        name: entry.id.clone(),
        subscriptions,
        part: Box::new(instance),
    })
}

fn failed(error: &dyn std::fmt::Display) -> StartError {
    StartError {
        message: error.to_string(),
        exit_code: 1,
    }
}

/// Done when the system asks us to stop.
async fn stopped() {
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let signals = kinds.into_iter().filter_map(|kind| signal(kind).ok());
    let waits = signals.map(|mut signal| Box::pin(async move { signal.recv().await }));
    let waits: Vec<_> = waits.collect();
    match waits.is_empty() {
        true => std::future::pending().await,
        false => drop(futures_util::future::select_all(waits).await),
    }
}
