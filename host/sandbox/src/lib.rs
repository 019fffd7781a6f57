//! Proxies that are WebAssembly components, each in its own store.
//!
//! A component gets the channel, and the directories that the user grants. WASI is linked, since toolchains import it,
//! but grants nothing else. A trap poisons a store, so a store holds only one proxy.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[allow(
    missing_docs,
    clippy::pedantic,
    reason = "generated from wit/proxy.wit"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "proxy",
        ownership: Borrowing { duplicate_if_necessary: true },
        // A call traps if it exceeds a limit.
        imports: { default: trappable },
        exports: { default: async },
    });
}
mod apart;
mod component;
mod convert;
mod directory;
mod engine;
mod epoch;
mod functions;
mod guest;
mod instance;
mod journal;
mod lines;
mod meter;
mod metered;
mod nesting;
mod offers;
mod opening;
mod post_mortem;
mod state;
mod usage;
mod version;

pub use apart::apart;
pub use component::{Component, ComponentError};
pub use directory::{Directories, Directory, DirectoryError, Opened};
pub use engine::{Engine, EngineError};
pub use guest::Guest;
pub use instance::DECLINES;
use instance::Instance;
pub use usage::{Bounds, Gauge, Total};
