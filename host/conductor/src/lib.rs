//! The conductor of a client's connection to a chain: feeds the [`Router`] with what arrives, and writes what it sends,
//! until the client or the agent ends.
//!
//! Invariants, beside those of the router about messages ([`acp_chain_router`]):
//! - No more is read than can be kept, while a part of the chain does not read.
//! - No program of the chain outlives the connection.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod conductor;
mod ending;
mod files;
mod handshake;
mod hooks;
mod pipes;
mod projects;
mod serve;
mod simulated;
mod start;
mod values;

pub use acp_chain_process::ChildIo;
pub use acp_chain_recorder as trace;
pub use acp_chain_router::{
    EndCallback, Launch, Member, Native, NativeBacklogs, Order, PATIENCE, Program, Proxy, Router,
    Swap, Terms, ValueCall, ValueRequest, losses, sign_in,
};
pub use hooks::AgentHooks;
pub use projects::{Project, Projects, ProxyFactory, Word};
pub use serve::{Exit, Settings, serve};
pub use start::{Agent, Chain, Role, StartError};
pub use values::StoredValues;

/// Native proxies, and the agent: their processes, and the dialects of the proxy protocol.
pub mod native {
    pub use acp_chain_process::{
        CommandLine, Process, ProcessEnd, SpawnError, Startable, Supervisor, Tail, describe,
        exit_code,
    };
    pub use acp_chain_router::native::Dialect;
}
