//! A component with everything needed to start it, as often as wanted.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::{Map, Value};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder};

use super::journal::Journal;
use super::meter::Meter;
use super::{Component, Directories, Engine, Gauge, Instance};
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Grant, MessageId, Source, Starting};

/// The key of the user in a proxy's configuration.
const USER: &str = "acp-chain/user";

/// A proxy that is a component, with its terms. Cloning it shares everything. Its fields may be changed until it is
/// started.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The engine that runs it.
    pub engine: Engine,
    /// Its code.
    pub component: Component,
    /// Its id in the manifest.
    pub name: Arc<str>,
    /// Its configuration, as JSON text.
    pub config: Arc<str>,
    /// The user, as JSON text, if known. The proxy gets it if it has the power `user.read`.
    pub user: Option<Arc<str>>,
    /// Its limits.
    pub limits: Arc<Limits>,
    /// Its powers.
    pub grant: Arc<Grant>,
    /// Its directories.
    pub directories: Directories,
    /// Records what it uses.
    pub gauge: Gauge,
}

impl Guest {
    /// A proxy with the default limits, without configuration, powers and directories.
    #[must_use]
    pub fn new(engine: &Engine, component: Component, name: &str) -> Self {
        Self {
            engine: engine.clone(),
            component,
            name: name.into(),
            config: "{}".into(),
            user: None,
            limits: Arc::default(),
            grant: Arc::default(),
            directories: Directories::default(),
            gauge: Gauge::default(),
        }
    }

    /// Its settings: its configuration, and the user, if it may know. Only the host sets that: a value of the
    /// configuration under this key is dropped.
    pub(super) fn settings(&self) -> Cow<'_, str> {
        if !self.grant.has("user.read") {
            return Cow::Borrowed(&self.config);
        }
        let Ok(mut config) = serde_json::from_str::<Map<String, Value>>(&self.config) else {
            return Cow::Borrowed(&self.config);
        };
        config.remove(USER);
        let user = self.user.as_deref();
        if let Some(user) = user.and_then(|user| serde_json::from_str(user).ok()) {
            config.insert(USER.to_owned(), user);
        }
        Cow::Owned(Value::Object(config).to_string())
    }

    /// Everything that WASI grants: only these directories, and the journal for output.
    pub(super) fn wasi(&self, journal: &Journal, meter: &Arc<Meter>) -> WasiCtx {
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(journal.stdout(meter.clone()));
        wasi.stderr(journal.stderr(meter.clone()));
        wasi.allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        let mut wasi = wasi.build();
        *wasi.filesystem() = self.directories.files();
        wasi
    }
}

impl Source for Guest {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        Box::pin(Instance::start(self.clone(), first, saved))
    }

    fn memory(&self) -> Option<Arc<AtomicUsize>> {
        Some(self.gauge.shared())
    }

    fn is_crowded(&self) -> bool {
        self.engine.total.is_crowded()
    }
}
