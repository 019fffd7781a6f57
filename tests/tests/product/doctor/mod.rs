//! `acp-chain doctor`: what does not work is named, with what mends it, and nothing else is touched.

mod agents;
mod broken;
mod healthy;
mod user;
