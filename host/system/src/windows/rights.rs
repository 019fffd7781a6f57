//! Giving up our own rights: not supported.

use super::directory::Directory;
use crate::Rights;

/// Keeps all rights.
pub fn give_up(_: &[(&Directory, bool)], _: Option<&Directory>) -> Rights {
    Rights::kept("only Linux supports giving this up")
}
