//! Code that differs between operating systems, and nothing else: no other place is specific to one.
//!
//! Each system has a folder with the same modules and names:
//!
//! | module | what it is | Unix | Windows |
//! |---|---|---|---|
//! | `supervisor` | who starts programs and opens sockets | a process of our own | ourselves |
//! | `tree` | a child process and all that it starts | a process group, held by the supervisor | a job object |
//! | `rights` | giving up our own rights | Landlock and seccomp, on Linux | not done |
//! | `stdio` | our own standard streams | pipes and sockets are polled | another thread |
//! | `terminal` | giving the agent the terminal that we run in | it takes our place | it is waited for |
//! | `stop` | being asked to stop | signals | console events |
//! | `files` | files for their owner alone, and who could change them | owners, modes, numbers | the folder's |
//! | `directory` | a directory that stays the same one | a descriptor | its path |
//! | `descriptors` | how many files and sockets may be open | the limit is raised | no limit |
//! | `memory` | how much memory there is; giving back what is free | `/proc` and control groups, on Linux | not asked |
//! | `process` | what this process uses, and groups of others; giving way to others | `/proc`, on Linux | not asked |
//! | `thread` | what a thread uses | its clock | its times |
//! | `mounts` | where other file systems begin | `/proc`, on Linux | not asked |
//! | `handover` | handing streams to another process of ours | descriptors over a socket | not done |
//! | `local` | connections from programs of the same user | a socket | a named pipe |
//!
//! Unix is Linux and macOS. `rotated`, a file that starts over when it grows too long, is the same everywhere.

mod command;
mod given_up;
pub mod rotated;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as here;
#[cfg(windows)]
use self::windows as here;

/// Receives a program's standard error. Dropped at the end of it.
pub type Printed = Box<dyn FnMut(&[u8]) + Send>;

pub use self::command::CommandLine;
pub use self::given_up::Rights;
pub use self::here::stdio;
pub use self::here::supervisor::{Startable, Supervisor};
pub use self::here::{
    descriptors, directory, files, handover, local, memory, mounts, process, rights, stop,
    supervisor, terminal, thread, tree,
};
