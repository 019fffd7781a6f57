//! Where file systems are mounted: not implemented.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub path: PathBuf,
    pub kind: String,
}

impl Mount {
    /// Whether the kernel generates its files.
    pub fn is_made_up(&self) -> bool {
        false
    }

    /// Whether its files are on another machine.
    pub fn is_remote(&self) -> bool {
        false
    }
}

/// The file system that a path is on.
pub fn of(_: &Path) -> Option<Mount> {
    None
}

/// The file systems mounted below a directory, and the one that it is on.
pub fn within(_: &Path) -> (Option<Mount>, Vec<Mount>) {
    (None, Vec::new())
}
