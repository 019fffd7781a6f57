//! The bindings that wit-bindgen generates from the WIT, and their translation to the types of this crate. The only
//! place with `unsafe` code, all of it generated.

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

/// The interfaces that a proxy may export beside its handler. Each has its own world, as a component exports
/// everything in the worlds that it targets.
macro_rules! offer {
    ($name:ident, $package:literal, $world:literal, $module:literal) => {
        pub mod $name {
            wit_bindgen::generate!({
                path: "wit",
                inline: $package,
                world: $world,
                with: {
                    "acp-chain:proxy/types@0.1.0": crate::bindings::acp_chain::proxy::types,
                    "acp-chain:proxy/calls@0.1.0": generate,
                },
                pub_export_macro: true,
                default_bindings_module: $module,
            });
        }
    };
}

#[cfg(feature = "tools")]
offer!(
    tools,
    "package acp-chain:sdk; world tools { export acp-chain:proxy/tools@0.1.0; }",
    "acp-chain:sdk/tools",
    "acp_chain_proxy::bindings::tools"
);
offer!(
    resources,
    "package acp-chain:sdk; world resources { export acp-chain:proxy/resources@0.1.0; }",
    "acp-chain:sdk/resources",
    "acp_chain_proxy::bindings::resources"
);
offer!(
    prompts,
    "package acp-chain:sdk; world prompts { export acp-chain:proxy/prompts@0.1.0; }",
    "acp-chain:sdk/prompts",
    "acp_chain_proxy::bindings::prompts"
);
offer!(
    completion,
    "package acp-chain:sdk; world completion { export acp-chain:proxy/completion@0.1.0; }",
    "acp-chain:sdk/completion",
    "acp_chain_proxy::bindings::completion"
);
