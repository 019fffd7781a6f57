//! Where other file systems begin: this system is not asked.

use std::path::{Path, PathBuf};

/// A file system in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it begins.
    pub path: PathBuf,
    /// Its type.
    pub kind: String,
}

impl Mount {
    /// Whether there are no files on it, but what the kernel shows as files.
    pub fn is_made_up(&self) -> bool {
        false
    }
}

/// The file systems that begin below a directory, and the one that it is on.
pub fn within(_: &Path) -> (Option<Mount>, Vec<Mount>) {
    (None, Vec::new())
}
