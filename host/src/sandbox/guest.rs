//! A component with all that it takes to start it, as often as needed.

use std::path::PathBuf;
use std::sync::Arc;

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use super::journal::Journal;
use super::{Component, Engine, Instance};
use crate::channel::{Failure, Grant, MessageId, Source, Starting};
use crate::limits::Limits;

/// A proxy that is a component, under its terms. Cloning it shares everything.
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
    /// What it may use.
    pub limits: Arc<Limits>,
    /// What it may do.
    pub grant: Arc<Grant>,
    /// What it may open.
    pub directories: Arc<[Directory]>,
}

/// A directory that the user gives to a proxy. No symbolic link and no `..` leads out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The directory itself.
    pub path: PathBuf,
    /// What the proxy calls it.
    pub name: String,
    /// Whether the proxy may also write there.
    pub write: bool,
}

impl Guest {
    /// All that WASI grants: nothing but these directories, and the journal for what is printed.
    pub(super) fn wasi(&self, journal: &Journal) -> Result<WasiCtx, Failure> {
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(journal.clone()).stderr(journal.clone());
        wasi.allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        for Directory { path, name, write } in &*self.directories {
            let perms = match write {
                true => FsPerms::ReadWrite,
                false => FsPerms::ReadOnly,
            };
            wasi.preopened_dir(path, name, perms).map_err(|error| {
                let path = path.display();
                Failure::new(format!("its directory {path} cannot be opened: {error}"))
            })?;
        }
        Ok(wasi.build())
    }
}

impl Source for Guest {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        Box::pin(Instance::start(self.clone(), first, saved))
    }
}
