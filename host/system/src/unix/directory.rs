//! An open directory: the same one even if its path later leads to another.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

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

    /// Its current path, without links.
    #[cfg(target_os = "linux")]
    pub fn path(&self) -> io::Result<PathBuf> {
        fs::read_link(self.handle()?)
    }

    /// A path that always leads this process to this directory.
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

    /// Its current path, without links.
    #[cfg(not(target_os = "linux"))]
    pub fn path(&self) -> io::Result<PathBuf> {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let path = rustix::fs::getpath(&self.0)?;
        Ok(OsString::from_vec(path.into_bytes()).into())
    }

    /// A path that leads this process to this directory, unless another process replaces it at this moment.
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

/// The descriptor only identifies the directory; it cannot be read from.
#[cfg(target_os = "linux")]
const ONLY_REACHED: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_REACHED: OFlags = OFlags::empty();
