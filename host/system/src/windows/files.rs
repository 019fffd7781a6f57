//! Whose files are, and which names lead to the same one. A user's profile is for that user alone, so
//! what is in it needs nothing said.

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Opens a file to append to it. If it is not there, it is made for whom its folder is for.
pub fn append_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// Opens a file to write to its end, to read it and to cut it, as others may too. Who has a right to append alone may
/// not cut. If it is not there, it is made for whom its folder is for.
pub fn append_shared(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
}

/// Makes a directory for whom the one above it is for, and those above it that are not there.
pub fn make_private(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// An error if a file says that it is not to be written to. What a list of who may do what says, only a try tells.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let about = fs::metadata(path)?;
    match about.is_file() && about.permissions().readonly() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

/// What tells files and directories apart: their one path without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(PathBuf);

impl Identity {
    /// That of what a path leads to.
    pub fn of(path: &Path) -> Option<Self> {
        fs::canonicalize(path).ok().map(Self)
    }
}

/// What a file was when it was looked at: another, or the same with other bytes, has another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    changed: SystemTime,
}

impl Stamp {
    /// That of what a path leads to; none if there is nothing.
    pub fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        Some(Self {
            length: about.len(),
            changed: about.modified().ok()?,
        })
    }
}

/// Searching for another name of a file took too long.
#[derive(Debug)]
pub struct TooMany;

/// Finds another name of a file in a directory: there is no search for hard links here.
pub fn another_name(_: &Path, _: &Path, _: usize) -> Result<Option<PathBuf>, TooMany> {
    Ok(None)
}

/// Whether nobody but our user can change a file, or what is in a directory: this is not looked at.
pub fn check_owner(_: &Path) -> Result<(), Infallible> {
    Ok(())
}

/// Whether nobody but our user can read a file: this is not looked at.
pub fn check_secret(_: &File, _: &Path) -> Result<(), Infallible> {
    Ok(())
}
