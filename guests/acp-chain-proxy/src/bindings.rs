//! What wit-bindgen makes of the WIT, and the translation between it and the types of this crate.
//! The one place with `unsafe` code, all of it generated.

#![allow(
    unsafe_code,
    missing_docs,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]

wit_bindgen::generate!({
    path: "wit",
    world: "proxy",
    pub_export_macro: true,
    default_bindings_module: "acp_chain_proxy::bindings",
});
