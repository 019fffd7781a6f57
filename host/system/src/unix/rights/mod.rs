//! Giving up our own rights, for good, so that a bug in the engine can be exploited for little.
//!
//! A running chain keeps its open descriptors, and the directories granted to its proxies. On Linux, Landlock restricts
//! files, and seccomp everything else. Other systems have no equivalent.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use super::directory::Directory;
use crate::Rights;

/// Gives up all rights except opening files in these directories (`true`: also for writing), and removing files from
/// `cleared`.
///
/// Running threads keep their rights to files, so there should be none.
#[cfg(target_os = "linux")]
pub fn give_up(directories: &[(&Directory, bool)], cleared: Option<&Directory>) -> Rights {
    // Files first: the second step forbids Landlock's system calls.
    Rights {
        files: files::give_up(directories, cleared),
        calls: calls::give_up(),
    }
}

/// Not supported: keeps all rights.
#[cfg(not(target_os = "linux"))]
pub fn give_up(_: &[(&Directory, bool)], _: Option<&Directory>) -> Rights {
    Rights::kept("only Linux supports giving this up")
}
