//! The proxies that a chain is made of.

use std::sync::Arc;
use std::time::Duration;

use crate::native_peer::Native;
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Failure, FailurePolicy, Grant, Part, Registration, Source};

/// A component.
pub struct Proxy {
    /// Its id in the manifest.
    pub name: String,
    /// The registration that its instances declare. The subscriptions of an instance that is started later replace
    /// these.
    pub registration: Registration,
    /// The started instance; if `None`, one is started when a message arrives for the proxy.
    pub part: Option<Box<dyn Part>>,
    /// Starts further instances.
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
        let started = source.start(1, None).await?;
        Ok(Self {
            name: name.to_owned(),
            registration: started.registration,
            part: Some(started.part),
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

/// A proxy of any sort.
#[derive(Debug)]
pub enum Member {
    /// A component.
    Component(Proxy),
    /// A native program, which reads and writes messages.
    Native(Native),
}

impl Member {
    /// Its id in the manifest.
    #[inline]
    pub fn name(&self) -> &str {
        match self {
            Self::Component(proxy) => &proxy.name,
            Self::Native(native) => &native.name,
        }
    }

    /// Whether others rely on the proxy's decisions. A native program is never a guard, as it cannot declare itself
    /// one.
    #[inline]
    pub fn is_guard(&self) -> bool {
        match self {
            Self::Component(proxy) => proxy.registration.guard,
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
