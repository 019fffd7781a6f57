//! Where other file systems are mounted: this system is not asked.

use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub path: PathBuf,
    /// Its type.
    pub kind: String,
}

impl Mount {
    /// Whether the kernel generates its files.
    pub fn is_made_up(&self) -> bool {
        false
    }
}

/// The file systems mounted below a directory, and the one that it is on.
pub fn within(_: &Path) -> (Option<Mount>, Vec<Mount>) {
    (None, Vec::new())
}
