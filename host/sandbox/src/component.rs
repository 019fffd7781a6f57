//! Components that have been read, checked and compiled.

use std::fs;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::bindings::ProxyPre;
use super::lines::Lines;
use super::nesting::DEEPEST;
use super::state::State;
use super::version::{self, VERSION};
use super::{Engine, offers};
use acp_chain_channel::Offers;
use acp_chain_channel::limits::{COMPONENT, Quantity};
use acp_chain_rpc::untrusted::Untrusted;

/// The interfaces of the package `acp-chain:proxy` that the host provides to a component.
const GIVEN: [&str; 3] = ["types", "channel", "calls"];

/// The prefixes of the WASI interfaces that the host provides.
const WASI: [&str; 6] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// Why a file is not a usable component.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The path is a directory, a device or a pipe.
    #[error("it is not a file")]
    NoFile,
    /// The file is over the limit [`COMPONENT`].
    #[error("the file is larger than {}", Quantity::Size.show(COMPONENT as u64))]
    TooLarge,
    /// The file is not WebAssembly.
    #[error("the file is not WebAssembly")]
    NotWasm,
    /// The file is a core module.
    #[error(
        "the file is a core WebAssembly module, not a component; turn it into one with \
         `wasm-tools component new`"
    )]
    CoreModule,
    /// The component is damaged, or uses features that the engine lacks.
    #[error("the component is not valid: {}", Untrusted::new(.0))]
    Invalid(String),
    /// The component is nested too deep to be compiled.
    #[error(
        "the component cannot be compiled: its types, components or modules are nested more than {DEEPEST} deep"
    )]
    TooDeep,
    /// Compiling exceeds a bound, or fails otherwise.
    #[error("the component cannot be compiled: {}", Untrusted::new(.0))]
    Uncompiled(String),
    /// The component is made for another version of the interface.
    #[error(
        "the component is made for `acp-chain:proxy@{}`, and this host has {VERSION}: rebuild it with \
         the WIT of this host, or use a host of that version",
        Untrusted::new(.0)
    )]
    OtherVersion(String),
    /// The component imports an interface that the host does not provide.
    #[error(
        "the component imports `{}`, which the host does not provide; a proxy may import only \
         `acp-chain:proxy/channel@{VERSION}`, and WASI, which grants nothing",
        Untrusted::new(.0)
    )]
    UnknownImport(String),
    /// The component is not a proxy.
    #[error(
        "the component does not export `acp-chain:proxy/handler@{VERSION}`; it exports {}",
        Untrusted::new(exports)
    )]
    NoHandler {
        /// Its exports.
        exports: String,
    },
    /// An imported or exported interface differs from the host's.
    #[error("the component does not fit the host's interface: {}", Untrusted::new(.0))]
    Mismatch(String),
}

impl ComponentError {
    /// Whether compiling failed, so that the component is at fault, and not the path or the version.
    pub fn is_of_compiling(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::TooDeep | Self::Uncompiled(_))
    }
}

impl From<wasmtime::Error> for ComponentError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Invalid(format!("{error:#}"))
    }
}

/// A compiled component. Cloning it shares the code.
#[derive(Clone)]
pub struct Component {
    pub(super) pre: ProxyPre<State>,
    pub(super) lines: Lines,
    offers: Offers,
    size: u64,
}

impl Component {
    /// Reads, checks and compiles a component file. Takes seconds for large ones, unless the
    /// engine's cache has them.
    pub fn load(engine: &Engine, path: &Path) -> Result<Self, ComponentError> {
        // Checked first: opening a pipe would wait for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(ComponentError::NoFile);
        }
        let mut file = fs::File::open(path)?;
        if file.metadata()?.len() > COMPONENT as u64 {
            return Err(ComponentError::TooLarge);
        }
        let size = file.metadata()?.len();
        if let Some(component) = engine.find(file.by_ref().take(COMPONENT as u64)) {
            file.rewind()?;
            return Self::check(engine, component, Lines::find(BufReader::new(file)), size);
        }
        file.rewind()?;
        let mut bytes = Vec::new();
        // The file may grow meanwhile.
        file.by_ref()
            .take(COMPONENT as u64)
            .read_to_end(&mut bytes)?;
        Self::compile(engine, &bytes)
    }

    /// A component that is cached under a unique name, such as a digest. If there is no compiled code under that name,
    /// `read` returns the file's bytes, and must verify that they belong to the name.
    pub fn kept(
        engine: &Engine,
        name: &str,
        path: &Path,
        read: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> Result<Self, ComponentError> {
        match engine.find(name.as_bytes()) {
            Some(component) => {
                let file = fs::File::open(path)?;
                let size = file.metadata()?.len();
                Self::check(engine, component, Lines::find(BufReader::new(file)), size)
            }
            None => Self::compile_kept(engine, name, &read()?),
        }
    }

    /// Checks and compiles a component that will be [cached](Self::kept) under this name.
    pub fn compile_kept(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Self, ComponentError> {
        Self::compile_named(engine, name.as_bytes(), bytes)
    }

    /// Checks and compiles a component.
    pub fn compile(engine: &Engine, bytes: &[u8]) -> Result<Self, ComponentError> {
        Self::compile_named(engine, bytes, bytes)
    }

    fn compile_named(engine: &Engine, name: &[u8], bytes: &[u8]) -> Result<Self, ComponentError> {
        // The preamble: the magic number, then version 1 for modules, layer 1 for components.
        match bytes {
            [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => return Err(ComponentError::CoreModule),
            [0, b'a', b's', b'm', ..] => {}
            _ => return Err(ComponentError::NotWasm),
        }
        let component = engine.compile(name, bytes)?;
        let lines = Lines::find(Cursor::new(bytes));
        Self::check(engine, component, lines, bytes.len() as u64)
    }

    /// A built-in component, whose compiled code is at this place in the program's file. If the code is not for this
    /// machine, the component is compiled.
    pub fn carried(
        engine: &Engine,
        mut component: impl Read + Seek,
        program: &fs::File,
        code: &Range<u64>,
    ) -> Result<Self, ComponentError> {
        let size = component.seek(SeekFrom::End(0))?;
        component.rewind()?;
        match engine.carried(program, code) {
            Ok(compiled) => Self::check(engine, compiled, Lines::find(component), size),
            Err(error) => {
                let mut bytes = Vec::new();
                component.read_to_end(&mut bytes)?;
                if let Some(kept) = engine.find(&bytes[..]) {
                    let lines = Lines::find(Cursor::new(&bytes[..]));
                    return Self::check(engine, kept, lines, size);
                }
                // Only where that costs time: it is so at each start on this machine.
                tracing::info!(
                    "the code that the program carries is not for this machine: {error:#}"
                );
                Self::compile(engine, &bytes)
            }
        }
    }

    /// The compiled code, for building into a program.
    pub fn code(&self) -> Result<Vec<u8>, ComponentError> {
        let code = self.pre.instance_pre().component().serialize();
        code.map_err(|error| ComponentError::Invalid(format!("{error:#}")))
    }

    /// Checks whether a component could be a proxy.
    fn check(
        engine: &Engine,
        component: wasmtime::component::Component,
        lines: Lines,
        size: u64,
    ) -> Result<Self, ComponentError> {
        let shape = component.component_type();
        let imports = shape.imports(&engine.wasmtime).map(|(name, _)| name);
        let exports = shape.exports(&engine.wasmtime).map(|(name, _)| name);
        let (imports, exports): (Vec<_>, Vec<_>) = (imports.collect(), exports.collect());
        let mut names = imports.iter().chain(&exports);
        if let Some(version) = names.find_map(|name| version::other(name)) {
            return Err(ComponentError::OtherVersion(version.to_owned()));
        }
        if let Some(name) = imports.iter().find(|name| !is_given(name)) {
            return Err(ComponentError::UnknownImport((*name).to_owned()));
        }
        let is_handler = |name: &&str| version::interface(name) == Some("handler");
        if !exports.iter().any(is_handler) {
            let exports = match &exports[..] {
                [] => "nothing".to_owned(),
                names => format!("`{}`", names.join("`, `")),
            };
            return Err(ComponentError::NoHandler { exports });
        }
        let mismatch = |error| ComponentError::Mismatch(format!("{error:#}"));
        let instance = engine
            .linker
            .instantiate_pre(&component)
            .map_err(mismatch)?;
        let offers = offers::of_component(&exports, &instance).map_err(mismatch)?;
        let pre = ProxyPre::new(instance).map_err(mismatch)?;
        Ok(Self {
            pre,
            lines,
            offers,
            size,
        })
    }

    /// Size of the component in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The offers to the agent.
    pub fn offers(&self) -> Offers {
        self.offers
    }

    /// The names of its imported interfaces.
    pub fn imports(&self, engine: &Engine) -> Vec<String> {
        let shape = self.pre.instance_pre().component().component_type();
        shape
            .imports(&engine.wasmtime)
            .map(|(name, _)| name.to_owned())
            .collect()
    }
}

fn is_given(import: &str) -> bool {
    match version::interface(import) {
        Some(interface) => GIVEN.contains(&interface),
        None => WASI.iter().any(|prefix| import.starts_with(prefix)),
    }
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Component")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}
