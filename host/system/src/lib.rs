//! Code that differs between operating systems. No other crate has code for one system.
//!
//! Each system has a folder with the same modules and names:
//!
//! | module | what it is | Unix | Windows |
//! |---|---|---|---|
//! | `supervisor` | starts programs, knows what they start, and opens sockets | a process of our own | ourselves |
//! | `tree` | a child process and its descendants | a process group, held by the supervisor | a job object |
//! | `rights` | giving up our own rights | Landlock and seccomp, on Linux | not done |
//! | `stdio` | our own standard streams | pipes and sockets are polled | another thread |
//! | `terminal` | running the agent in our terminal | it replaces our process | it is a child process |
//! | `stop` | requests to stop | signals | console events |
//! | `files` | private files, and whether other users can change them | owners, modes, inodes | the folder's |
//! | `directory` | an open directory | a descriptor | its path |
//! | `descriptors` | the limit of open files and sockets | the limit is raised | no limit |
//! | `memory` | available memory; returning free memory | `/proc` and control groups, on Linux | not implemented |
//! | `process` | resource use of processes; lowering our priority | `/proc`, on Linux | not implemented |
//! | `programs` | where the file of a program is | the system looks it up | `PATH` and `PATHEXT` |
//! | `thread` | a thread's processor time | its clock | its times |
//! | `mounts` | mount points | `/proc`, on Linux | not implemented |
//! | `handover` | passing streams to another process of ours | descriptors over a socket | not done |
//! | `worker` | another process of ours that works for this one | a socket | pipes |
//! | `local` | connections from programs of the same user | a socket | a named pipe |
//! | `blocking` | one of them, with the standard library alone | a socket | a named pipe |
//!
//! Unix is Linux and macOS. The same everywhere are `rotated`, a file that starts over when it grows too long, `names`,
//! what names and paths mean on Windows, `user_files`, how the user's files are moved, and `writable`, what keeps our user from
//! writing somewhere.

mod command;
mod descent;
mod given_up;
pub mod names;
pub mod rotated;
mod started;
mod user_files;
pub mod writable;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as here;
#[cfg(windows)]
use self::windows as here;

/// Receives a program's standard error, and is dropped when that ends.
pub type StderrCallback = Box<dyn FnMut(&[u8]) + Send>;

pub use self::command::{CONNECT_TOKEN, CommandLine, HOOK_TOKEN, STORE_PASSWORD};
pub use self::descent::{Ancestor, Descent};
pub use self::given_up::Rights;
pub use self::here::stdio;
pub use self::here::supervisor::{Startable, Supervisor};
pub use self::here::{
    blocking, descriptors, directory, files, handover, local, memory, mounts, process, programs,
    rights, stop, supervisor, terminal, thread, tree, worker,
};
pub use self::started::StartedProgram;
pub use self::user_files::UserFiles;
