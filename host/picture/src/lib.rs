//! Draws a chain's messages from a trace: each with its route through the chain, and the changes of each proxy, in
//! colour if standard output is a terminal.
//!
//! Invariant: terminal controls in a message have no effect.

#![forbid(unsafe_code)]

mod chunks;
mod leg;
mod story;

pub use leg::{Kind, Leg, block, legs, text_of};
pub use story::{chain, changes, turn};
