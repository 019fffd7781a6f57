//! Tests of proxies: transcripts, and the conformance check; and of both ends of a chain: replays of recordings, and a
//! stage, whose ends are played message by message.

#![forbid(unsafe_code)]

pub mod conformance;
mod observed;
pub mod replay;
pub mod stage;
pub mod transcript;
