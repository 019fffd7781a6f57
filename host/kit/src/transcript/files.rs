//! The files of transcripts: found in folders, and read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_rpc::untrusted::Untrusted;
use walkdir::{DirEntry, WalkDir};

use super::format::{LONGEST, Script, Wrong};

/// How far below a named folder files are found.
const DEPTH: usize = 33;

/// Folders that are never searched: third-party code, and generated files. Nor are hidden ones.
const SKIPPED: &[&str] = &["node_modules", "target"];

/// Why transcripts cannot be found, or read. Each has the path of a folder or file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{}: the folder cannot be read: {}", Untrusted::new(.0.display()), .1)]
    Folder(PathBuf, String),
    #[error("{}: the file cannot be read: {}", Untrusted::new(.0.display()), .1)]
    Unreadable(PathBuf, io::Error),
    #[error("{}: it is not a file", Untrusted::new(.0.display()))]
    NoFile(PathBuf),
    #[error("{}:{}", Untrusted::new(.0.display()), .1)]
    Wrong(PathBuf, Wrong),
}

/// The named files, and all transcripts in the named folders, each once, by path. Links in these are not followed.
///
/// # Errors
/// If a folder cannot be read.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FileError> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let walk = WalkDir::new(path).min_depth(1).max_depth(DEPTH);
        for entry in walk.into_iter().filter_entry(is_searched) {
            let entry = entry.map_err(|error| of_folder(path, &error))?;
            let is_named = entry.path().extension() == Some(OsStr::new("transcript"));
            if is_named && !entry.file_type().is_dir() {
                found.push(entry.into_path());
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether an entry is a file, or a folder that may have transcripts.
fn is_searched(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    !entry.file_type().is_dir() || !name.starts_with('.') && !SKIPPED.contains(&&*name)
}

/// The error about a folder, or one below it.
fn of_folder(folder: &Path, error: &walkdir::Error) -> FileError {
    let folder = error.path().unwrap_or(folder).to_owned();
    let cause = error.io_error().map(ToString::to_string);
    FileError::Folder(folder, cause.unwrap_or_else(|| error.to_string()))
}

/// Reads a transcript.
///
/// # Errors
/// If it is no regular file, cannot be read, or is no transcript.
pub fn read(path: &Path) -> Result<Script, FileError> {
    let unreadable = |error| FileError::Unreadable(path.to_owned(), error);
    // Checked first: opening a pipe would wait for a writer.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(FileError::NoFile(path.to_owned()));
    }
    let file = File::open(path).map_err(unreadable)?;
    // One byte more detects files that are too long.
    let text = io::read_to_string(file.take(LONGEST as u64 + 1)).map_err(unreadable)?;
    Script::read(&text).map_err(|wrong| FileError::Wrong(path.to_owned(), wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_found_except_in_folders_that_are_hidden_or_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in [
            "b.transcript",
            "in/a.transcript",
            "in/a.txt",
            ".git/c.transcript",
            "in/node_modules/d.transcript",
            "target/e.transcript",
        ] {
            fs::create_dir_all(place(name).parent().unwrap()).unwrap();
            fs::write(place(name), "").unwrap();
        }
        fs::create_dir(place("folder.transcript")).unwrap();
        // One that is named twice is found once, and a named file whatever its name is.
        let named = [place(""), place("in/a.txt"), place("b.transcript")];
        let expected = ["b.transcript", "in/a.transcript", "in/a.txt"].map(place);
        assert_eq!(find(&named).unwrap(), expected);
    }
}
