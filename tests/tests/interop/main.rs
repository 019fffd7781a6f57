//! Turns with third-party clients, agents, servers and conductors, which `cargo xtask peers` fetches.

mod differential;
mod mcp_peers;
mod peers;
mod replay;
