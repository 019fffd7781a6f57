//! Giving up our own rights, for good: a bug in the engine is then one in a process that can do little.
//!
//! What is left is what a chain that runs needs: the descriptors that it has, and the directories that
//! its proxies are given. Linux has the means, Landlock for files and seccomp for everything else.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use super::directory::Directory;
use crate::Rights;

/// Gives up all rights but those to open what is in these directories, and to write there if so said; and to remove
/// files from one more.
///
/// Threads that run already keep theirs to files, so there are to be none.
#[cfg(target_os = "linux")]
pub fn give_up(directories: &[(&Directory, bool)], cleared: Option<&Directory>) -> Rights {
    // Files first: how that is done is itself among what is given up then.
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
