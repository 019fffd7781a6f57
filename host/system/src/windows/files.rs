//! Owners, permissions and identities of files. A user's profile is for that user alone, so files in it need no
//! permissions.

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::names;

/// Whether files have modes, which say who can read and write them.
pub const HAS_MODES: bool = false;

/// The position that stands for the end of the file, wherever that is when the system writes (`WriteFile`).
const END: u64 = u64::MAX;

/// Opens a file for appending. If it does not exist, it is created with its folder's permissions.
pub fn append_private(path: &Path) -> io::Result<File> {
    // A handle that only allows appending cannot be locked.
    OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)
}

/// Opens a file for [appending](append), reading and truncating, while other processes may do so too. If it does not
/// exist, it is created with its folder's permissions.
///
/// The right to append alone does not allow truncating, and with the right to write, the system writes at the file's
/// position.
pub fn append_shared(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
}

/// Appends to a file of [`append_shared`], behind what other processes append meanwhile.
pub fn append(file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, END) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Creates a file with its folder's permissions, which must not exist, for writing. It is not marked as a temporary
/// one, which would stay so: the system may keep such a file in memory, and backups leave it out.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).write(true).open(path)
}

/// Creates a directory with its parent's permissions, and its missing parents.
pub fn make_private(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Creates a program.
pub fn write_program(path: &Path, content: &[u8]) -> io::Result<()> {
    std::fs::write(path, content)
}

/// Whether a file may be run: any file may.
pub fn may_run(_: &Path) -> bool {
    true
}

/// Creates a symbolic link.
pub fn link(to: &Path, path: &Path) -> io::Result<()> {
    if to.is_dir() {
        std::os::windows::fs::symlink_dir(to, path)
    } else {
        std::os::windows::fs::symlink_file(to, path)
    }
}

/// An error if a file is read-only. Access control lists are not checked.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let about = fs::metadata(path)?;
    if about.is_file() && about.permissions().readonly() {
        Err(io::ErrorKind::PermissionDenied.into())
    } else {
        Ok(())
    }
}

/// What lets our user write to a file or directory: unknown, since access control lists are not read.
pub fn step_to_own(_: &Path) -> Option<String> {
    None
}

/// The path of a file or directory without links, and without the prefix `\\?\` where it means the same without: that
/// is how people write paths, and how programs take them.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    let plain = real.to_str().and_then(names::plain).map(PathBuf::from);
    Ok(plain.unwrap_or(real))
}

/// The identity of a file or directory: its path without links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity(PathBuf);

impl Identity {
    /// The identity of the target of a path.
    pub fn of(path: &Path) -> Option<Self> {
        fs::canonicalize(path).ok().map(Self)
    }
}

/// The state of a file. It differs for another file, and after a change of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    changed: SystemTime,
}

impl Stamp {
    /// The state of the target of a path; `None` if it does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        Some(Self {
            length: about.len(),
            changed: about.modified().ok()?,
        })
    }
}

/// The search for another name of a file reached its limit.
#[derive(Debug)]
pub struct TooMany;

/// Hard links are not searched for: always `None`.
pub fn another_name(_: &Path, _: &Path, _: usize) -> Result<Option<PathBuf>, TooMany> {
    Ok(None)
}

/// Whether only our user can change a file, or the contents of a directory: not checked.
pub fn check_owner(_: &Path) -> Result<(), Infallible> {
    Ok(())
}

/// Whether only our user can read a file: not checked.
pub fn check_secret(_: &File, _: &Path) -> Result<(), Infallible> {
    Ok(())
}
