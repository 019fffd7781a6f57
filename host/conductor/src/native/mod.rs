//! Parts of a chain that are child processes.
//!
//! Neither a process nor anything that it started outlives the host: its whole [tree](acp_chain_system) is killed when
//! the host has ended, for whatever reason. On Unix another process, the [`Supervisor`], starts and owns the processes,
//! as the host gives up the right to.

mod dialect;
mod process;
mod stderr;

pub use dialect::{Dialect, is_successor};
pub use process::{Process, ProcessEnd, SpawnError, describe, exit_code};

pub use acp_chain_system::{CommandLine, Startable, Supervisor};
