//! A component with everything that is needed to start instances of it.

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

/// The key in a proxy's configuration under which the host sets the user.
const USER: &str = "acp-chain/user";

/// A proxy that is a component, with its terms. Cloning it shares everything. Changes of fields affect only later
/// starts.
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
    /// Records the usage of its instances.
    pub gauge: Gauge,
}

impl Guest {
    /// A proxy with the default limits, without configuration, powers and directories.
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

    /// The configuration and, if the proxy has the power `user.read`, the user. Only the host sets the user: a value of
    /// the configuration under its key is dropped.
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

    /// The WASI context: it grants only the directories, and the journal for output.
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
