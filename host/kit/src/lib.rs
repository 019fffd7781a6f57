//! Tests of proxies: transcripts, and the conformance check.

#![forbid(unsafe_code)]

pub mod conformance;
pub mod transcript;
