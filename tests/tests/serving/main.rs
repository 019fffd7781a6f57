//! Chains and agents beyond a network: `acp-chain serve`, those who connect to it, and agents that are servers.

mod remote;
mod remote_client;
mod serve;
