//! What differs from one operating system to the next, and nothing else: the only place that asks
//! which one this is.
//!
//! Each system has a folder with the same modules, and in them the same names:
//!
//! | module | what it is | Unix | Windows |
//! |---|---|---|---|
//! | `tree` | a child process and all that it starts | a process group, and a guard | a job object |
//! | `stdio` | our own standard streams | pipes and sockets are polled | another thread |
//! | `stop` | being asked to stop | signals | console events |
//! | `files` | files for their owner alone, and who could change them | owners, modes, numbers | the folder's |
//! | `directory` | a directory that stays the same one | a descriptor | its path |
//! | `mounts` | where other file systems begin | `/proc`, on Linux | not asked |
//! | `local` | connections from programs of the same user | a socket | a named pipe |
//!
//! Unix is Linux and macOS.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as here;
#[cfg(windows)]
use self::windows as here;

pub use self::here::stdio;
pub(crate) use self::here::{directory, files, local, mounts, stop, tree};
