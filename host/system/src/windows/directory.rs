//! A directory, identified by its path.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::real;

#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Finds a directory, but not through a link at the end of its path.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self(real(path)?))
    }

    /// Its path, without links.
    pub fn path(&self) -> io::Result<PathBuf> {
        Ok(self.0.clone())
    }

    /// A path that leads this process to this directory.
    pub fn handle(&self) -> io::Result<PathBuf> {
        self.path()
    }
}
