//! Parts of a chain that are child processes.
//!
//! A process never outlives the host, nor does anything that it started: it leads a process group
//! of its own, and a guard outside of both kills that group when the host is gone, however it
//! went. Only what leaves that group on purpose, as a daemon does, gets away.

mod dialect;
mod guard;
mod process;
mod stderr;
pub mod stdio;

pub use dialect::{Dialect, is_successor};
pub use process::{AgentCommand, Ended, Process, SpawnError, describe, exit_code};
