//! What wit-bindgen makes of the WIT. The one place with `unsafe` code, all of it generated.

#![allow(
    unsafe_code,
    missing_docs,
    unused_macros,
    unused_imports,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]

#[cfg(target_arch = "wasm32")]
use super::TestTools;

wit_bindgen::generate!({
    path: "../../../wit",
    world: "tool-proxy",
});

#[cfg(target_arch = "wasm32")]
export!(TestTools with_types_in self);
