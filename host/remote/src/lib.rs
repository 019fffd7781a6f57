//! ACP over HTTP and WebSocket: both ends, as transports (RFD streamable-http-websocket-transport).
//!
//! What always holds:
//! - A message that crosses has the bytes that it came with, but for line breaks between its tokens.
//! - What waits is bounded: who takes nothing stops whoever speaks to him, and is given up after a stated time.
//! - Nobody gets further than the [gate] who is not let in, and somebody else's connection is not there.

#![forbid(unsafe_code)]

pub mod client;
pub mod gate;
pub mod server;
mod wire;

pub use gate::User;
