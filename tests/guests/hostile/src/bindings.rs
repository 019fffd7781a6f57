//! The bare interface, without the SDK, which would obey its rules. The only place with `unsafe` code, all of it
//! generated.

#![allow(unsafe_code, reason = "generated")]

pub use acp_chain_proxy::bindings::{acp_chain, exports};

#[cfg(target_arch = "wasm32")]
use super::Hostile;

#[cfg(target_arch = "wasm32")]
acp_chain_proxy::bindings::export!(Hostile with_types_in acp_chain_proxy::bindings);
