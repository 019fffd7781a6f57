//! Building blocks of the end-to-end tests: generated protocol messages, a JSON-RPC end that tests
//! drive by hand, and the transcript of the messages that crossed the wire.
//!
//! Everything here treats a message as text. acp-chain promises to keep the spelling of numbers,
//! strings and keys, so no message is parsed and serialized again before an assertion.

pub mod chain;
pub mod client;
pub mod declared;
#[cfg(unix)]
pub mod disk;
pub mod ends;
pub mod envelope;
pub mod fuzz;
pub mod host;
#[cfg(unix)]
pub mod link;
pub mod output;
pub mod passing;
#[cfg(unix)]
pub mod postgres;
pub mod powers;
pub mod process;
pub mod projects;
pub mod provider;
pub mod schema;
pub mod stand_in;
pub mod terminal;
pub mod transcript;
pub mod tree;
pub mod ways;
pub mod web;
pub mod wire;
