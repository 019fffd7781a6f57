//! What the chains of all clients share, and how one is made of it.

use std::collections::HashMap;

use crate::chain::{Chain, Role, StartError};
use crate::cli::plan::{self, Failed, Plan, failed, start_native};
use crate::host::{self, Ready, Started};
use crate::manifest::Manifest;
use crate::mcp::bridge::BridgeKind;
use crate::native::{Startable, Supervisor};
use crate::rpc::code;
use crate::sandbox::{Gauge, Guest};

use acp_chain_remote::User;

/// All that it takes to start a chain, loaded once.
pub struct Chains {
    supervisor: Supervisor,
    bridge: BridgeKind,
    agent: Startable,
    manifest: Option<Manifest>,
    /// The proxies of the manifest, in its order: what is started for each chain.
    proxies: Vec<Proxy>,
}

enum Proxy {
    Component(Guest),
    Program(Startable),
}

impl Chains {
    /// Loads what a plan says, and has the supervisor start nothing but its programs.
    pub async fn load(plan: Plan, supervisor: Supervisor) -> Result<Self, Failed> {
        let loading = plan
            .manifest
            .as_ref()
            .map(|manifest| plan::load(manifest, &plan.directories));
        let natives = plan.manifest.iter().flat_map(Manifest::natives);
        let natives = natives.map(|(_, native)| native.command.clone());
        let commands = plan.agent.iter().cloned().chain(natives);
        let allowed = supervisor.allow(commands.collect());
        let mut programs = allowed.map_err(|error| failed(&error))?.into_iter();
        let agent = programs
            .next()
            .ok_or_else(|| failed(&"no agent is named"))?;
        let mut proxies = Vec::new();
        if let (Some(manifest), Some(loading)) = (&plan.manifest, loading) {
            let loaded = loading.await.map_err(|error| failed(&error))?;
            for (entry, guest) in manifest.proxies.iter().zip(loaded) {
                let guest = guest.transpose();
                let guest = guest.map_err(|error| failed(&manifest.about(entry, &error)))?;
                let proxy = guest.map(Proxy::Component);
                proxies.extend(proxy.or_else(|| programs.next().map(Proxy::Program)));
            }
        }
        Ok(Self {
            supervisor,
            bridge: plan.bridge,
            agent,
            manifest: plan.manifest,
            proxies,
        })
    }

    /// A chain of its own for a client.
    pub async fn start(&self, role: Role, _user: &User) -> Result<Chain, StartError> {
        if role != Role::Agent {
            return Err(StartError {
                message:
                    "an agent is served here, so this chain is no proxy; begin with `initialize`"
                        .to_owned(),
                code: code::INVALID_REQUEST,
            });
        }
        self.chain().await.map_err(|failed| failed.error)
    }

    async fn chain(&self) -> Result<Chain, Failed> {
        let agent = plan::start_agent(&self.agent)?;
        let started = self.proxies().await?;
        Ok(Chain {
            proxies: started.proxies,
            notices: started.notices,
            supervisor: Some(self.supervisor.clone()),
            bridge: self.bridge,
            ..Chain::new(Vec::new(), agent)
        })
    }

    /// Starts the proxies of one chain. It is done once before anybody comes, so that it is the operator who hears of
    /// what is wrong with them.
    pub async fn proxies(&self) -> Result<Started, Failed> {
        let Some(manifest) = &self.manifest else {
            return Ok(Started::default());
        };
        let natives: HashMap<_, _> = manifest
            .natives()
            .map(|(entry, native)| (&entry.id, native))
            .collect();
        let proxies = manifest.proxies.iter().zip(&self.proxies);
        let ready = proxies.filter_map(|(entry, proxy)| match proxy {
            Proxy::Component(guest) => Some(Ready::Guest(Guest {
                // Each has its own memory, and that is seen in its own place.
                gauge: Gauge::default(),
                ..guest.clone()
            })),
            Proxy::Program(program) => {
                let native = natives.get(&entry.id)?;
                Some(Ready::Native(start_native(entry, native, program.clone())))
            }
        });
        let ready: Vec<_> = ready.collect();
        let started = host::start(manifest, ready).await;
        started.map_err(|error| failed(&error))
    }
}
