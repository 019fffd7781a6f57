//! The one wasmtime engine of a process.

use std::path::Path;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Cache, CacheConfig, Config};

use super::bindings;
use super::epoch::Epoch;
use super::state::State;
use crate::limits::WASM_STACK;

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the WebAssembly engine could not be set up: {0:#}")]
pub struct EngineError(wasmtime::Error);

/// Compiles components and runs them. Cloning it shares everything.
#[derive(Clone)]
pub struct Engine {
    pub(super) wasmtime: wasmtime::Engine,
    pub(super) linker: Linker<State>,
    pub(super) epoch: Epoch,
}

impl Engine {
    /// An engine that keeps compiled code in a directory, or nowhere.
    pub fn new(cache: Option<&Path>) -> Result<Self, EngineError> {
        Self::build(cache).map_err(EngineError)
    }

    fn build(cache: Option<&Path>) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.epoch_interruption(true);
        config.max_wasm_stack(WASM_STACK);
        if let Some(directory) = cache {
            let mut cache = CacheConfig::new();
            cache.with_directory(directory);
            // Else what is used often is compressed again, harder: for seconds, with 150 MiB, in the
            // middle of a turn.
            cache.with_optimized_compression_usage_counter_threshold(u64::MAX);
            config.cache(Some(Cache::new(cache)?));
        }
        let wasmtime = wasmtime::Engine::new(&config)?;
        let mut linker = Linker::new(&wasmtime);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        bindings::Proxy::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
        let epoch = Epoch::new(&wasmtime);
        Ok(Self {
            wasmtime,
            linker,
            epoch,
        })
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}
