//! The engine and the components that the chains of a process share, and the start of a manifest's proxies.
//!
//! Installed components are named by digest, so a [`Host`] loads each only once, for any number of connections. Only
//! [`Host::load`] needs privileges. Components run only from [`start`] on, when the process may have dropped its
//! privileges.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use acp_chain_rpc::Mutex;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::chain::{Member, Native, Proxy, Terms};
use crate::channel::{Failure, FailurePolicy, Registration, Source, Started};
use crate::extension::{Digest, Location};
use crate::manifest::{Manifest, Order, ProxyEntry, ProxyKind};
use crate::sandbox::{Component, ComponentError, Directories, Engine, Guest};

/// The engine of a process, and the components loaded by it.
#[derive(Debug)]
pub struct Host {
    engine: Engine,
    /// The loaded components of installed extensions.
    installed: Mutex<HashMap<Digest, Component>>,
}

/// A proxy of a manifest, and the directories that it is granted.
#[derive(Clone, Debug)]
pub struct ProxyPlan {
    /// The entry of the manifest.
    pub entry: ProxyEntry,
    /// Its opened directories; none for a native proxy.
    pub directories: Directories,
}

/// A proxy of a manifest, after [`Host::load`].
#[derive(Debug)]
pub struct LoadedProxy {
    /// What it was loaded from.
    pub plan: ProxyPlan,
    /// The loaded component; `None` for a native proxy.
    pub component: Option<Result<Guest, ComponentError>>,
}

/// A proxy of a manifest that can be started.
#[derive(Debug)]
pub struct ReadyProxy {
    /// The entry of the manifest.
    pub entry: ProxyEntry,
    /// What is started.
    pub ready: Ready,
}

/// What is started of a proxy.
#[derive(Debug)]
pub enum Ready {
    /// A component.
    Guest(Guest),
    /// A component with a known registration. It gets an instance when it receives its first message.
    Asleep(Guest, Registration),
    /// A native proxy, or why it does not run.
    Native(Result<Native, Failure>),
    /// A component that cannot be compiled: its failure policy applies.
    Uncompiled(Failure),
}

impl Ready {
    /// Wraps a loaded component.
    ///
    /// # Errors
    /// If it cannot be read. A component that cannot be compiled is [`Ready::Uncompiled`].
    pub fn loaded(loaded: Result<Guest, ComponentError>) -> Result<Self, ComponentError> {
        match loaded {
            Ok(guest) => Ok(Self::Guest(guest)),
            Err(error) if error.is_of_compiling() => {
                Ok(Self::Uncompiled(Failure::new(error.to_string())))
            }
            Err(error) => Err(error),
        }
    }
}

/// The proxies of a manifest, in the order of the chain.
#[derive(Debug, Default)]
pub struct StartedProxies {
    /// The started proxies, the client's neighbour first.
    pub proxies: Vec<Member>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

impl Host {
    /// A host without loaded components.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            installed: Mutex::default(),
        }
    }

    /// Loads the components of proxies concurrently. `loading` gets each proxy's id and runs its load, which may take
    /// seconds.
    pub fn load(
        &self,
        proxies: Vec<ProxyPlan>,
        loading: impl Fn(&str, &mut dyn FnMut()) + Sync,
    ) -> Vec<LoadedProxy> {
        let load = |plan: ProxyPlan| LoadedProxy {
            component: self.guest(&plan, &loading),
            plan,
        };
        proxies.into_par_iter().map(load).collect()
    }

    fn guest(
        &self,
        ProxyPlan { entry, directories }: &ProxyPlan,
        loading: &impl Fn(&str, &mut dyn FnMut()),
    ) -> Option<Result<Guest, ComponentError>> {
        let ProxyKind::Component(terms) = &entry.kind else {
            return None;
        };
        let mut component = None;
        loading(&entry.id, &mut || {
            component = Some(self.component(&terms.location));
        });
        let guest = |component| Guest {
            config: terms.config.as_str().into(),
            limits: terms.limits.clone(),
            grant: terms.grant.clone(),
            directories: directories.clone(),
            ..Guest::new(&self.engine, component, &entry.id)
        };
        Some(component?.map(guest))
    }

    /// Loads a component from its location.
    pub fn component(&self, location: &Location) -> Result<Component, ComponentError> {
        let engine = &self.engine;
        match location {
            Location::File(path) => Component::load(engine, path),
            Location::Read(_, component) => Component::compile(engine, component),
            Location::Stored(stored) => self.once(stored.digest, || {
                let read = || stored.read().map_err(io::Error::other);
                Component::kept(engine, &stored.digest.to_string(), &stored.path, read)
            }),
            Location::Carried(extension) => self.once(extension.digest, || {
                let (program, code) = extension.code()?;
                Component::carried(engine, extension.component()?, &program, &code)
            }),
        }
    }

    fn once(
        &self,
        digest: Digest,
        load: impl FnOnce() -> Result<Component, ComponentError>,
    ) -> Result<Component, ComponentError> {
        let installed = || self.installed.lock();
        if let Some(component) = installed().get(&digest) {
            return Ok(component.clone());
        }
        // Not under the lock: others load their components meanwhile.
        let component = load()?;
        Ok(installed().entry(digest).or_insert(component).clone())
    }
}

/// The proxies of a manifest, in its order, with their directories opened.
///
/// # Errors
/// If a directory is missing, or cannot be opened; the error names the manifest and the proxy.
pub fn plan(manifest: &Manifest) -> Result<Vec<ProxyPlan>, String> {
    let opened = manifest.proxies.iter().map(|entry| {
        let directories = match &entry.kind {
            ProxyKind::Component(component) => Directories::open(&component.directories)
                .map_err(|error| manifest.about(entry, &error))?,
            ProxyKind::Native(_) => Directories::default(),
        };
        Ok(ProxyPlan {
            entry: entry.clone(),
            directories,
        })
    });
    opened.collect()
}

/// Starts the proxies of a manifest: from here on their code runs. Those that may sleep are put to sleep
/// after being idle for `sleep_after`.
///
/// # Errors
/// If a proxy does not start, or lacks the powers of a guard, and its `on-failure` is not `bypass`.
pub async fn start(
    manifest: &Manifest,
    proxies: impl IntoIterator<Item = ReadyProxy>,
    sleep_after: Option<Duration>,
) -> Result<StartedProxies, String> {
    let mut all = StartedProxies::default();
    for ReadyProxy { entry, ready } in proxies {
        let entry = &entry;
        let is_uncompiled = matches!(ready, Ready::Uncompiled(_));
        let started = match entry.check_guard() {
            Ok(()) => member(entry, ready, sleep_after).await,
            Err(why) => Err(Failure::new(why)),
        };
        if let Some(why) = entry.cannot_guard() {
            let id = &entry.id;
            all.notices
                .push(format!("the guard `{id}` cannot guard everything: {why}"));
        }
        if entry.lacks_rules() {
            all.notices.push(format!(
                "the guard `{}` has no rules, so it decides nothing; `acp-chain permissions suggest` and `import` make \
                 some",
                entry.id
            ));
        }
        match started {
            Ok(proxy) => all.proxies.push(proxy),
            Err(failure) => {
                let (id, details) = (&entry.id, failure.details());
                tracing::error!(target: Failure::TARGET, "the proxy `{id}` did not start: {failure}{details}");
                if entry.on_failure != Some(FailurePolicy::Bypass) {
                    let wrong = if is_uncompiled {
                        failure.to_string()
                    } else {
                        format!("it did not start: {failure}")
                    };
                    return Err(manifest.about(entry, &wrong));
                }
                let reason = &failure.reason;
                all.notices.push(format!(
                    "the proxy `{id}` did not start: {reason}. It is bypassed."
                ));
            }
        }
    }
    if manifest.order == Order::GuardsLast {
        // The sort is stable: guards, and other proxies, keep their order.
        all.proxies.sort_by_key(Member::is_guard);
    }
    Ok(all)
}

/// Starts one proxy, unless it sleeps.
async fn member(
    entry: &ProxyEntry,
    ready: Ready,
    sleep_after: Option<Duration>,
) -> Result<Member, Failure> {
    match ready {
        Ready::Guest(guest) => start_guest(entry, guest, sleep_after)
            .await
            .map(Member::from),
        Ready::Asleep(guest, registration) => Ok(Member::Component(Proxy {
            name: entry.id.clone(),
            terms: terms(entry, &guest, &registration, sleep_after),
            registration,
            part: None,
            source: Box::new(guest),
        })),
        Ready::Native(native) => native.map(Member::from),
        Ready::Uncompiled(failure) => Err(failure),
    }
}

async fn start_guest(
    entry: &ProxyEntry,
    guest: Guest,
    sleep_after: Option<Duration>,
) -> Result<Proxy, Failure> {
    let Started { part, registration } = guest.start(1, None).await?;
    entry.check_declared(&registration).map_err(Failure::new)?;
    for subscription in &registration.subscriptions {
        tracing::debug!(proxy = entry.id, "subscribes to {subscription}");
    }
    if !registration.offers.is_empty() && !guest.grant.has("tools") {
        let (id, offers) = (&entry.id, registration.offers);
        tracing::warn!(
            "the proxy `{id}` has {offers}, but the agent does not get them: it lacks the power `tools`"
        );
    }
    Ok(Proxy {
        name: entry.id.clone(),
        terms: terms(entry, &guest, &registration, sleep_after),
        registration,
        part: Some(part),
        source: Box::new(guest),
    })
}

fn terms(
    entry: &ProxyEntry,
    guest: &Guest,
    registration: &Registration,
    sleep_after: Option<Duration>,
) -> Terms {
    let sleeps = matches!(&entry.kind, ProxyKind::Component(component) if component.sleeps);
    Terms {
        limits: guest.limits.clone(),
        grant: guest.grant.clone(),
        on_failure: entry.on_failure.unwrap_or(registration.on_failure),
        sleep_after: sleep_after.filter(|_| sleeps),
    }
}
