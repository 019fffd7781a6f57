//! A directory that was opened once. It stays the same one, wherever its path leads later.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

/// An open directory.
#[derive(Debug)]
pub struct Directory(OwnedFd);

impl Directory {
    /// Opens a directory, but not through a link at the end of its path.
    pub fn open(path: &Path) -> io::Result<Self> {
        // With a trailing slash, a link would be followed.
        let path: PathBuf = path.components().collect();
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | ONLY_REACHED;
        Ok(Self(open(&path, flags, Mode::empty())?))
    }

    /// Its path, without links, as it is now.
    #[cfg(target_os = "linux")]
    pub fn path(&self) -> io::Result<PathBuf> {
        fs::read_link(self.handle()?)
    }

    /// A path on which this process finds this directory and no other.
    #[cfg(target_os = "linux")]
    pub fn handle(&self) -> io::Result<PathBuf> {
        use std::os::fd::AsRawFd;
        let handle = PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()));
        match fs::symlink_metadata(&handle) {
            Ok(_) => Ok(handle),
            Err(error) => Err(io::Error::new(
                error.kind(),
                format!("/proc must be mounted: {error}"),
            )),
        }
    }

    /// Its path, without links, as it is now.
    #[cfg(not(target_os = "linux"))]
    pub fn path(&self) -> io::Result<PathBuf> {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let path = rustix::fs::getpath(&self.0)?;
        Ok(OsString::from_vec(path.into_bytes()).into())
    }

    /// A path on which this process finds this directory, unless somebody is replacing it just now.
    #[cfg(not(target_os = "linux"))]
    pub fn handle(&self) -> io::Result<PathBuf> {
        fs::canonicalize(self.path()?)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// It only identifies the directory: nothing is read through this descriptor.
#[cfg(target_os = "linux")]
const ONLY_REACHED: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_REACHED: OFlags = OFlags::empty();
