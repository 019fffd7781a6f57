//! MCP over ACP: servers provided by the client, a proxy or the host, and agents that reach them by any transport (RFD
//! mcp-over-acp).
//!
//! Between the agent and a server's provider, messages pass through the chain as `mcp/*`, visible to proxies that
//! subscribe to them. At the provider's position in the chain, a [seat] receives the callers' messages, in either
//! dialect, and translates them for the provider. An agent that does not support MCP over ACP uses the bridge at the
//! agent's end of the chain, the crate `acp-chain-bridge`. This crate does no input or output.
//!
//! Every MCP message is a [`wire::McpMessage`], whatever carries it: [`wire`] reads it from the params of ACP messages,
//! and writes it there. Requests stand alone, as in MCP 2026-07-28: a [component] and a [stateless] provider get
//! nothing else. Everything else is translated, by `edge` for callers, and by `connected::server` for providers:
//!
//! | caller | a [component] or a [stateless] provider | a [connected] provider |
//! |---|---|---|
//! | a request that stands alone | passes | passes on one connection, or is translated for a server that begins with `initialize` |
//! | one of 2026-07-28 on a connection | passes | passes on its own connection |
//! | a client that begins with `initialize` | is translated | passes on its own connection |
//!
//! A provider that declares itself in the stateless dialect may speak the other: its dialect is [undecided] until its
//! first answer. `versions` has the differences of outcomes between versions, `listening` has `subscriptions/listen`.

#![forbid(unsafe_code)]

pub mod capabilities;
pub mod component;
pub mod connected;
pub mod declaration;
mod edge;
mod listening;
pub mod param_headers;
pub mod protocol;
pub mod reach;
pub mod seat;
pub mod secret;
pub mod stateless;
#[cfg(test)]
mod tests;
pub mod undecided;
mod versions;
pub mod wire;

/// A server that is declared in one session. Never reused within a connection.
pub type ServerId = u64;

/// The conversation of an MCP client of the agent on the bridge. Never reused.
pub type LinkId = u64;

/// The number of an unanswered incoming request.
pub type IncomingId = u64;

/// The number that a seat assigns to a request that it sends. Never reused within a seat.
pub type OutgoingId = u64;

/// The host's number for an MCP client's connection to a server. Never reused.
pub type ConnectionId = u64;

/// A provider's dialect of MCP over ACP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFD mcp-over-acp: callers connect.
    Connected,
    /// Schema 1.15: every request stands alone.
    Stateless,
}
