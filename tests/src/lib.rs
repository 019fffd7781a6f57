//! What the end to end tests are made of: generated protocol messages, a JSON-RPC end that tests
//! drive by hand, and the transcript of what crossed the wire.
//!
//! Everything here treats a message as text. How a number, a string or a key is spelt is part of
//! what acp-chain promises to keep, so nothing is read and written anew on the way to an
//! assertion.

pub mod chain;
pub mod client;
pub mod declared;
pub mod ends;
pub mod envelope;
pub mod fuzz;
pub mod host;
pub mod passing;
pub mod powers;
pub mod process;
pub mod projects;
pub mod provider;
pub mod said;
pub mod schema;
pub mod stand_in;
pub mod terminal;
pub mod transcript;
pub mod tree;
pub mod web;
pub mod wire;
