//! The host charges each end and each proxy for what it makes the host keep, up to a limit. The tests attack
//! with everything that is known to pile up, and check the program's peak memory.
//!
//! Attacks by components are in the hostile suite.

mod requests;

/// The memory of a program in which nothing special happens, in bytes.
const QUIET: u64 = 40 << 20;
