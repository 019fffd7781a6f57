//! The optional interface `tools` of a component.

#[allow(
    missing_docs,
    clippy::pedantic,
    reason = "generated from wit/proxy.wit"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        inline: "package acp-chain:host; world tools { export acp-chain:proxy/tools@0.1.0; }",
        world: "acp-chain:host/tools",
        exports: { default: async },
    });
}

pub use bindings::acp_chain::proxy::types::Error;
pub use bindings::exports::acp_chain::proxy::tools as wit;
pub use bindings::{Tools, ToolsPre};

/// The name of the interface among the exports of a component.
pub const TOOLS: &str = "acp-chain:proxy/tools@0.1.0";
