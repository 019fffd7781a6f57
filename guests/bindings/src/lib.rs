//! The bindings of the Rust SDK, which wit-bindgen generates from the WIT (`cargo xtask types`). Proxies use them through
//! `acp-chain-proxy`, which has no `unsafe` code of its own.

#![allow(
    unsafe_code,
    missing_docs,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]

#[rustfmt::skip]
mod proxy;

pub use proxy::*;

// The clock of WASI. A component that does not read it does not import it.
#[rustfmt::skip]
pub mod clock;

// The interfaces that a proxy may export beside its handler.
#[rustfmt::skip]
pub mod completion;
#[rustfmt::skip]
pub mod prompts;
#[rustfmt::skip]
pub mod resources;
#[cfg(feature = "tools")]
#[rustfmt::skip]
pub mod tools;
