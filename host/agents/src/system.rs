//! File operations that differ between systems.

use std::fs;
use std::io;
use std::path::Path;

/// Makes a file executable.
#[cfg(unix)]
pub fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Makes a symbolic link to this path.
#[cfg(unix)]
pub fn link(to: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

/// Every file is executable.
#[cfg(not(unix))]
pub fn make_executable(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

/// Not every user may make links.
#[cfg(not(unix))]
pub fn link(_to: &Path, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
