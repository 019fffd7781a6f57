//! Parts of a chain that are child processes: they speak ACP on their standard input and output.
//!
//! Neither a process nor anything that it started outlives the host: its whole [tree](acp_chain_system) is killed when
//! the host has ended, for whatever reason. On Unix another process, the [`Supervisor`], starts and owns the processes,
//! as the host gives up the right to.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod io;
mod process;
mod stderr;

pub use self::io::ChildIo;
pub use self::process::{Process, ProcessEnd, SpawnError, describe, exit_code};
pub use self::stderr::Tail;

pub use acp_chain_system::{CommandLine, Startable, Supervisor};
