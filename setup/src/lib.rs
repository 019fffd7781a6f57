//! Puts acp-chain in front of the agents that an editor is configured with, and takes it out again.
//!
//! [`Editor::found`] names the configurations of an editor, [`plan`](fn@plan) says how one would change, and a
//! [`Store`] makes the [`Change`], keeps what was there before, and plans the way back.
//!
//! What always holds: bytes outside of what launches an agent stay the very same; a configuration that cannot be
//! read is not written; nothing is written that has changed since it was planned. Nobody is asked, and nothing is
//! printed: that is for whoever calls.

#![forbid(unsafe_code)]

mod agents;
mod block;
mod editors;
mod error;
mod launch;
mod places;
mod plan;
mod shell;
mod store;

pub use agents::{Agent, Runs};
pub use editors::{EDITORS, Editor};
pub use error::Error;
pub use launch::Launch;
pub use places::Places;
pub use plan::{Change, Planned, Wanted, agents, plan, typed};
pub use store::{Store, Undo, Write};
