//! MCP over ACP: servers that the client, a proxy or the host itself provides, and agents that reach
//! them by whatever they speak (RFD mcp-over-acp).
//!
//! Between the agent and whoever provides a server, what is said travels the chain as `mcp/*`
//! messages, and proxies see it there if they subscribe to it. At the provider's place in the chain
//! stands a [seat]: it takes what callers say, in either dialect, and turns it into what the provider
//! understands. At the agent's end, an agent that does not know MCP over ACP comes by the [bridge].

#![forbid(unsafe_code)]

pub mod bridge;
pub mod capabilities;
pub mod component;
pub mod connected;
pub mod declaration;
#[cfg(test)]
mod hostile;
pub mod mirrored;
pub mod protocol;
pub mod schema;
pub mod seat;
mod secret;
pub mod stateless;
#[cfg(test)]
mod transcript;
pub mod undecided;
mod uris;
pub mod wire;

/// A server that is declared in one session. Never used twice in a connection.
pub type ServerId = u64;

/// One conversation of an MCP client of the agent's that came by the bridge. Never used twice.
pub type LinkId = u64;

/// How a provider of a server speaks MCP over ACP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// That of the RFD mcp-over-acp: callers connect.
    Connected,
    /// That of schema 1.15: every request stands alone.
    Stateless,
}
