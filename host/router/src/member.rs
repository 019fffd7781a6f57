//! The proxies that a chain is made of.

use std::sync::Arc;
use std::time::Duration;

use super::native_peer::Native;
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Failure, FailurePolicy, Grant, Registration, Source, Started};

/// A component that has started.
pub struct Proxy {
    /// Its id in the manifest.
    pub name: String,
    /// The started instance.
    pub started: Started,
    /// Starts another instance after a failure.
    pub source: Box<dyn Source>,
    /// Its terms.
    pub terms: Terms,
}

impl Proxy {
    /// Starts a component. The source must apply the terms itself.
    ///
    /// # Errors
    /// If the component cannot be started.
    pub async fn start(
        name: &str,
        source: impl Source + 'static,
        terms: Terms,
    ) -> Result<Self, Failure> {
        Ok(Self {
            name: name.to_owned(),
            started: source.start(1, None).await?,
            source: Box::new(source),
            terms,
        })
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Proxy")
            .field("name", &self.name)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

/// A component without an instance yet: one is made when a message arrives for it.
pub struct SleepingProxy {
    /// Its id in the manifest.
    pub name: String,
    /// The registration that its instances declare. The subscriptions of a started instance replace these.
    pub registration: Registration,
    /// Starts its instances.
    pub source: Box<dyn Source>,
    /// Its terms.
    pub terms: Terms,
}

impl std::fmt::Debug for SleepingProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("SleepingProxy")
            .field("name", &self.name)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

/// A proxy of any sort.
#[derive(Debug)]
pub enum Member {
    /// A component that has started.
    Component(Proxy),
    /// A component without an instance.
    Asleep(SleepingProxy),
    /// A native program, which reads and writes messages.
    Native(Native),
}

impl Member {
    /// Its id in the manifest.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Component(proxy) => &proxy.name,
            Self::Asleep(sleeper) => &sleeper.name,
            Self::Native(native) => &native.name,
        }
    }

    /// Whether others rely on the proxy's decisions. A native program is never a guard, as it cannot declare itself
    /// one.
    #[must_use]
    pub fn is_guard(&self) -> bool {
        match self {
            Self::Component(proxy) => proxy.started.registration.guard,
            Self::Asleep(sleeper) => sleeper.registration.guard,
            Self::Native(_) => false,
        }
    }
}

impl From<Proxy> for Member {
    fn from(proxy: Proxy) -> Self {
        Self::Component(proxy)
    }
}

impl From<Native> for Member {
    fn from(native: Native) -> Self {
        Self::Native(native)
    }
}

/// The terms of a proxy.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Its limits.
    pub limits: Arc<Limits>,
    /// Its powers.
    pub grant: Arc<Grant>,
    /// What happens when it breaks.
    pub on_failure: FailurePolicy,
    /// How long the proxy must be idle before it is put to sleep; `None`: it never is.
    pub sleep_after: Option<Duration>,
}
