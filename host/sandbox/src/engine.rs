//! The wasmtime engine of a process.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use acp_chain_cache::CodeCache;
use wasmtime::Config;
use wasmtime::component::{Component, HasSelf, Linker};

use super::bindings;
use super::component::ComponentError;
use super::epoch::Epoch;
use super::functions::Functions;
use super::nesting;
use super::opening;
use super::state::State;
use super::usage::Total;
use acp_chain_channel::limits::{CODE_CACHE, WASM_STACK};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::mounts;

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the WebAssembly engine could not be set up: {0:#}")]
pub struct EngineError(#[from] wasmtime::Error);

/// Compiles components and runs them. Cloning it shares everything.
#[derive(Clone)]
pub struct Engine {
    pub(super) wasmtime: wasmtime::Engine,
    pub(super) linker: Arc<Linker<State>>,
    pub(super) epoch: Epoch,
    pub(super) total: Arc<Total>,
    cache: Option<CodeCache>,
    compiler: Option<Compiler>,
}

/// Compiles components, as [`Engine::code`] of an engine with the same settings does.
pub type Compiler = fn(&[u8]) -> Result<Vec<u8>, ComponentError>;

impl Engine {
    /// An engine that caches compiled code in this directory, if any.
    pub fn new(cache: Option<&Path>) -> Result<Self, EngineError> {
        Self::with(cache, Config::new())
    }

    /// Has components compiled by `compiler` instead of by this engine.
    #[must_use]
    pub fn compiling_by(self, compiler: Compiler) -> Self {
        Self {
            compiler: Some(compiler),
            ..self
        }
    }

    /// An engine for components that get newer versions: it compiles the functions that versions share only once.
    pub fn for_newer_versions() -> Result<Self, EngineError> {
        let mut config = Config::new();
        config.enable_incremental_compilation(Arc::new(Functions::new()))?;
        Self::with(None, config)
    }

    /// An engine whose [code](Self::code) is for this target, as Rust names it, and for any processor of it. It runs
    /// nothing.
    ///
    /// # Errors
    /// If the target is unknown, or is another machine and the feature `cross` is off.
    pub fn for_target(target: &str) -> Result<Self, EngineError> {
        let mut config = Config::new();
        config.target(target)?;
        Self::with(None, config)
    }

    fn with(cache: Option<&Path>, mut config: Config) -> Result<Self, EngineError> {
        let cache = cache.and_then(|folder| {
            let opened = CodeCache::open(folder, CODE_CACHE);
            // On a network disk, the file of code that runs may go away, or be removed by another machine.
            let is_remote = mounts::of(folder).is_some_and(|mount| mount.is_remote());
            let fit = |cache: CodeCache| if is_remote { cache.copying() } else { cache };
            opened
                .map(fit)
                .inspect_err(|error| {
                    let folder = Untrusted::new(folder.display());
                    tracing::warn!("compiled components are not kept in {folder}: {error}");
                })
                .ok()
        });
        config.epoch_interruption(true);
        config.max_wasm_stack(WASM_STACK);
        let wasmtime = wasmtime::Engine::new(&config)?;
        let mut linker = Linker::new(&wasmtime);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        opening::add_to_linker(&mut linker)?;
        bindings::Proxy::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
        let epoch = Epoch::new(&wasmtime);
        Ok(Self {
            wasmtime,
            linker: Arc::new(linker),
            epoch,
            total: Arc::default(),
            cache,
            compiler: None,
        })
    }

    /// The total usage of all instances of the engine.
    pub fn total(&self) -> Arc<Total> {
        self.total.clone()
    }

    /// Finds a cached component, by the content of its file, or by its name.
    pub(super) fn find(&self, name: impl Read) -> Option<Component> {
        let found = self.cache.as_ref()?.find(&self.wasmtime, name);
        found.ok().flatten()
    }

    /// A component from code built into this program.
    pub(super) fn carried(&self, program: &File, code: &Range<u64>) -> wasmtime::Result<Component> {
        acp_chain_cache::carried(&self.wasmtime, program, code)
    }

    /// Compiles a component, or finds it compiled under this name.
    pub(super) fn compile(&self, name: &[u8], wasm: &[u8]) -> Result<Component, ComponentError> {
        let compile = || match &self.compiler {
            Some(compiler) => compiler(wasm),
            None => self.code(wasm),
        };
        match &self.cache {
            Some(cache) => {
                // What is installed has often been tried before, from its file.
                let other = (name != wasm).then_some(wasm);
                let known = || other.and_then(|other| cache.code(&self.wasmtime, other));
                let code = || known().map_or_else(compile, Ok);
                Ok(cache.load(&self.wasmtime, name, code)?.component)
            }
            None => Ok(acp_chain_cache::compiled(&self.wasmtime, &compile()?)?),
        }
    }

    /// Compiles a component in this process. An engine with the same settings can run the code.
    pub fn code(&self, wasm: &[u8]) -> Result<Vec<u8>, ComponentError> {
        if nesting::is_too_deep(wasm) {
            return Err(ComponentError::TooDeep);
        }
        Ok(self.wasmtime.precompile_component(wasm)?)
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}
