//! Files on disk: bounded reads, and atomic changes. A file is written under a temporary name, synced, and renamed. If
//! the process is killed in between, the temporary file stays. [`sweep`] removes it from acp-chain's own folders, but
//! not from a user's folder, where a file with such a name may be another program's.

#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use acp_chain_channel::limits::Quantity;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::{files, writable};

/// The prefix of temporary files.
const UNFINISHED: &str = ".unfinished-";

/// Reads a file of at most this many bytes.
pub fn read(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    // Checked first: opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        let most = Quantity::Size.show(most as u64);
        let what = format!("it is larger than {most}");
        Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
    } else {
        Ok(bytes)
    }
}

/// Writes or replaces a file. A new file is readable only by its owner; a replaced one keeps its permissions.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, files::create_private)
}

/// Writes or replaces a file. A new file has the default permissions; a replaced one keeps its own. The replacement of
/// a private file is private at any time.
pub fn write_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.exists() {
        return write(path, bytes);
    }
    let create = |path: &Path| File::options().write(true).create_new(true).open(path);
    replace(path, bytes, create)
}

/// Writes or replaces a file. `create` makes the temporary one; `tempfile` would add the temporary name to its error,
/// and callers name the file.
fn replace(
    path: &Path,
    bytes: &[u8],
    create: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    step()?;
    let mut unfinished = Builder::new();
    unfinished.prefix(UNFINISHED).disable_cleanup(true);
    let (mut file, beside) = unfinished.make_in(folder, create)?.into_parts();
    let mut write = || {
        step()?;
        file.write_all(bytes)?;
        // The temporary file is private; the replaced one may not be.
        if let Ok(about) = fs::metadata(path) {
            file.set_permissions(about.permissions())?;
        }
        step()?;
        file.sync_all()?;
        step()?;
        fs::rename(&beside, path)
    };
    if let Err(error) = write() {
        let _ = remove(&beside);
        return Err(error);
    }
    step()?;
    sync(folder)
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> io::Result<()> {
    step()?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether an error says that a file does not exist.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// An error of the system about a path, with what the user can do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}{}", Untrusted::new(path.display()), next_step(path, error))]
pub struct DiskError {
    path: PathBuf,
    error: io::Error,
}

impl DiskError {
    /// An error about this path.
    pub fn new(path: &Path, error: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            error,
        }
    }

    /// Whether it says what the user can do.
    #[must_use]
    pub fn has_next_step(&self) -> bool {
        !next_step(&self.path, &self.error).is_empty()
    }
}

fn next_step(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space, then retry. Nothing was lost".to_owned(),
        _ => writable::next_step(path, error),
    }
}

/// Removes the temporary files of killed processes. No other process may be writing into the folder.
pub fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Syncs the names in a folder, if the system can open folders.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder).map_or(Ok(()), |folder| folder.sync_all())
}

#[cfg(not(any(test, feature = "fault")))]
#[expect(clippy::unnecessary_wraps, reason = "tests let it fail")]
fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(any(test, feature = "fault"))]
use self::fault::step;

#[cfg(any(test, feature = "fault"))]
#[path = "tests/fault.rs"]
pub mod fault;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_private_or_usual_and_an_old_one_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let permissions = |name| fs::metadata(path(name)).unwrap().permissions();
        fs::write(path("usual"), "").unwrap();
        write(&path("private"), b"").unwrap();
        write_shared(&path("shared"), b"").unwrap();
        assert_eq!(permissions("shared"), permissions("usual"));
        let private = permissions("private");
        write_shared(&path("private"), b"more").unwrap();
        assert_eq!(permissions("private"), private);
        assert_eq!(fs::read(path("private")).unwrap(), b"more");
    }

    #[test]
    fn an_error_is_that_of_the_system_without_a_temporary_name() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let expected = File::open(&missing).unwrap_err().to_string();
        for write in [write, write_shared] {
            let error = write(&missing.join("it"), b"new").unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_file_is_the_old_one_or_the_new_one() {
        fault::at_each_step(
            || {
                let folder = tempfile::tempdir().unwrap();
                fs::write(folder.path().join("it"), "old").unwrap();
                folder
            },
            |folder| drop(write(&folder.path().join("it"), b"new")),
            |folder, fault| {
                let text = fs::read_to_string(folder.path().join("it")).unwrap();
                assert!(["old", "new"].contains(&&*text), "{fault}: {text}");
                sweep(folder.path()).unwrap();
                assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{fault}");
            },
        );
    }
}
