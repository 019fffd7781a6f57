//! A chain's messages for people: each with its way through the chain, and what each proxy changed in it. They are
//! drawn from the trace of `acp-chain run --trace`, in colours if standard output is a terminal.
//!
//! Invariant: nothing in a message moves the cursor, or is taken for a colour.

#![forbid(unsafe_code)]

mod chunks;
mod leg;
mod story;

pub use leg::{Kind, Leg, legs, text_of};
pub use story::{chain, changes, turn};
