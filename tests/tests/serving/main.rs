//! Chains and agents over a network: `acp-chain serve`, its clients, and remote agents.

mod remote;
mod remote_client;
mod serve;
mod store;
