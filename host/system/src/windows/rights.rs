//! Our own rights, which we keep here.

use super::directory::Directory;
use crate::Rights;

/// There is no way to give them up.
pub fn give_up(_: &[(&Directory, bool)], _: Option<&Directory>) -> Rights {
    Rights::kept("only Linux has a way to give that up")
}
