//! Parts of a chain that are child processes.
//!
//! A process never outlives the host, nor does anything that it started: it is held as a whole
//! [tree](crate::system), which is killed when the host is gone, however it went.

mod dialect;
mod process;
mod stderr;

pub use dialect::{Dialect, is_successor};
pub use process::{AgentCommand, Ended, Process, SpawnError, describe, exit_code};
