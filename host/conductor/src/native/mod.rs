//! Parts of a chain that are child processes.
//!
//! A process never outlives the host, nor does anything that it started: it is held as a whole
//! [tree](acp_chain_system), which is killed when the host is gone, however it went. On Unix another
//! process, the [`Supervisor`], starts and holds it, for the host gives up the right to.

mod dialect;
mod process;
mod stderr;

pub use dialect::{Dialect, is_successor};
pub use process::{Ended, Process, SpawnError, describe, exit_code};

pub use acp_chain_system::{CommandLine, Startable, Supervisor};
