//! What crossed a chain, as people read it: each message with its way through the chain, and what each proxy made
//! of it. It is drawn from the trace of `acp-chain run --trace`, in colours where standard output is a terminal.
//!
//! What always holds: nothing that a message says moves the cursor, or is taken for a colour.

#![forbid(unsafe_code)]

mod chunks;
mod leg;
mod story;

pub use leg::{Kind, Leg, legs, text_of};
pub use story::{chain, changes, turn};
