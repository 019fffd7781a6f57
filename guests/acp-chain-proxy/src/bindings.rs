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

/// What a proxy with tools exports beside its handler. A world of its own, since a component exports
/// all of the world that it is made of.
#[cfg(feature = "tools")]
pub mod tools {
    wit_bindgen::generate!({
        path: "wit",
        inline: "
            package acp-chain:sdk;
            world tools { export acp-chain:proxy/tools@0.1.0; }
        ",
        world: "acp-chain:sdk/tools",
        with: { "acp-chain:proxy/types@0.1.0": crate::bindings::acp_chain::proxy::types },
        pub_export_macro: true,
        default_bindings_module: "acp_chain_proxy::bindings::tools",
    });
}
