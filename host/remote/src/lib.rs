//! ACP over HTTP and WebSocket: both ends, as transports (RFD streamable-http-websocket-transport).
//!
//! Invariants:
//! - A message passes with its bytes unchanged, except for line breaks between tokens.
//! - Backlogs are bounded: a side that does not read blocks its sender, and is disconnected after a fixed time.
//! - Rejected clients get no further than the [gate]; a client cannot detect connections of other users.

#![forbid(unsafe_code)]

pub mod client;
pub mod gate;
pub mod server;
mod wire;

pub use gate::User;
