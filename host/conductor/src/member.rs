//! The proxies of a chain, as they are handed over to it.

use std::sync::Arc;
use std::time::Duration;

use super::native_peer::Native;
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Failure, FailurePolicy, Grant, Registration, Source, Started};

/// A proxy that is ready for work.
pub struct Proxy {
    /// Its id in the manifest.
    pub name: String,
    /// The proxy itself.
    pub started: Started,
    /// Makes its replacement when it breaks.
    pub source: Box<dyn Source>,
    /// Its terms.
    pub terms: Terms,
}

impl Proxy {
    /// Starts a proxy on these terms, which the source applies itself.
    ///
    /// # Errors
    /// If it cannot be started.
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
pub struct Sleeper {
    /// Its id in the manifest.
    pub name: String,
    /// What its instances declare. The subscriptions of a started instance replace these.
    pub registration: Registration,
    /// Makes its instances.
    pub source: Box<dyn Source>,
    /// Its terms.
    pub terms: Terms,
}

impl std::fmt::Debug for Sleeper {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Sleeper")
            .field("name", &self.name)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

/// A proxy of any sort.
#[derive(Debug)]
pub enum Member {
    /// A component, which is called.
    Component(Proxy),
    /// A component that sleeps.
    Asleep(Sleeper),
    /// A program, which reads and writes by itself.
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

    /// Whether others rely on its decisions. A program is no guard, as nothing declares it one.
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
    /// How long it must be idle to be put to sleep. `None`: it never is.
    pub sleep_after: Option<Duration>,
}
