//! Giving up our own rights, for good: a bug in the engine is then in a process that can do little.
//!
//! A running chain keeps what it needs: its open descriptors, and the directories granted to its proxies. Linux has
//! the means, Landlock for files and seccomp for everything else.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use super::directory::Directory;
use crate::Rights;

/// Gives up all rights except opening files in these directories, writing there if granted, and removing files from one
/// more.
///
/// Running threads keep their rights to files, so there should be none.
#[cfg(target_os = "linux")]
pub fn give_up(directories: &[(&Directory, bool)], cleared: Option<&Directory>) -> Rights {
    // Files first: the calls for that are given up afterwards.
    Rights {
        files: files::give_up(directories, cleared),
        calls: calls::give_up(),
    }
}

/// There is no way to.
#[cfg(not(target_os = "linux"))]
pub fn give_up(_: &[(&Directory, bool)], _: Option<&Directory>) -> Rights {
    Rights::kept("only Linux has a way to give that up")
}
