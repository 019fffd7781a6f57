//! Puts acp-chain in front of an editor's agents, and removes it again.
//!
//! [`Editor::found`] lists the configurations of an editor, [`plan`](fn@plan) plans a change of one, and [`Backups`]
//! make the [`Change`], keep a copy, and plan the way back.
//!
//! Invariants: bytes outside of the launch commands stay the same; a configuration that cannot be parsed is not
//! written; a file that has changed since the plan is not written. The crate neither prompts nor prints: that is
//! up to the caller.

#![forbid(unsafe_code)]

mod agents;
mod backups;
mod block;
mod editors;
mod error;
mod file;
mod launch;
mod places;
mod plan;
mod select;
mod shell;

pub use agents::{Agent, BY_EDITOR, Runs};
pub use backups::{Backups, UndoPlan, Write};
pub use editors::{EDITORS, Editor};
pub use error::Error;
pub use launch::Launch;
pub use places::Folders;
pub use plan::{Change, EditorAgent, Plan, Wanted, agents, all_agents, plan, typed};
