//! Hosts chains of sandboxed proxies between an ACP client and an ACP agent.

#![forbid(unsafe_code)]

pub mod chain;
pub mod channel;
pub mod cli;
pub mod extension;
pub mod limits;
pub mod manifest;
pub mod mcp;
pub mod native;
pub mod rpc;
pub mod sandbox;
mod schema;
pub mod system;
pub mod trace;
pub mod untrusted;
