//! ACP over HTTP and WebSocket: both ends, as transports (RFD streamable-http-websocket-transport).
//!
//! Invariants:
//! - A message passes with its bytes unchanged, except for line breaks between tokens.
//! - Backlogs are bounded: a side that does not read stops its sender, and is given up after a fixed time.
//! - Rejected clients get no further than the [gate], and connections of other users do not exist for a client.

#![forbid(unsafe_code)]

pub mod client;
pub mod gate;
pub mod server;
mod wire;

pub use gate::User;
