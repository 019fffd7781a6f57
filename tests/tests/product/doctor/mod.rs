//! `acp-chain doctor`: problems are named with their remedies, and nothing is changed.

mod agents;
mod broken;
mod healthy;
mod user;
mod values;
