//! Turns with clients, agents, servers and conductors that others wrote, which `cargo xtask peers` fetches.

mod differential;
mod mcp_peers;
mod peers;
mod replay;
