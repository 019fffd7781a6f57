//! Finds recordings in the folders of agents. Links, pipes and other special files are passed over. A folder that cannot
//! be read is found as a recording, so that whatever reads it says so.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::format::{COMPRESSED, DATABASE, Format, Home, Place, ends};

/// How many files and folders are looked at in the folder of an agent.
const MOST: usize = 1_000_000;

/// A file to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Its format.
    pub format: Format,
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes, when it was found.
    pub size: u64,
}

impl Recording {
    /// The recording in a file, or in what a link leads to.
    ///
    /// # Errors
    /// If there is no such file, or it is no regular one.
    pub fn of(format: Format, path: &Path) -> std::io::Result<Self> {
        let about = fs::metadata(path)?;
        if !about.is_file() {
            return Err(std::io::Error::other("it is not a file"));
        }
        Ok(Self {
            format,
            path: path.to_owned(),
            size: about.len(),
        })
    }

    /// Whether it is compressed: such recordings are found, and not read.
    pub(crate) fn is_compressed(&self) -> bool {
        self.format == Format::Codex && ends(&self.path, COMPRESSED)
    }
}

/// The recordings of an agent, in the order of their names, and the folders that cannot be read.
pub fn find(format: Format, home: &Home) -> Vec<Recording> {
    let places = format.places(home);
    let found = places.iter().flat_map(|place| in_place(format, place));
    let mut found: Vec<_> = found.collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    without_copies(found)
}

/// Without those in the form of an older version that a newer one has taken over: opencode takes all sessions into its
/// database, and Gemini CLI a chat that goes on into a file beside it.
fn without_copies(found: Vec<Recording>) -> Vec<Recording> {
    let is_database = |recording: &Recording| recording.path.ends_with(DATABASE);
    let has_database = found.iter().any(is_database);
    let names: BTreeSet<PathBuf> = found.iter().map(|one| one.path.clone()).collect();
    let is_copy = |path: &Path| {
        ends(path, "json") && (has_database || names.contains(&path.with_extension("jsonl")))
    };
    let own = found.into_iter().filter(|one| !is_copy(&one.path));
    own.collect()
}

fn in_place(format: Format, place: &Place) -> Vec<Recording> {
    // Links are not followed.
    let walk = WalkDir::new(&place.folder).min_depth(1);
    let entries = walk.max_depth(place.depth + 1).into_iter().take(MOST);
    let is_one = |entry: &DirEntry| {
        let within = entry.path().strip_prefix(&place.folder);
        entry.file_type().is_file() && within.is_ok_and(place.is_one)
    };
    let found = entries.filter_map(|entry| match entry {
        Ok(file) if is_one(&file) => {
            let size = file.metadata().ok()?.len();
            let path = file.into_path();
            Some(Recording { format, path, size })
        }
        Ok(_) => None,
        Err(error) => unreadable(format, &error),
    });
    found.collect()
}

/// A folder that cannot be read, and may have recordings; `None` if there is none.
fn unreadable(format: Format, error: &walkdir::Error) -> Option<Recording> {
    let cause = error.io_error()?.kind();
    let path = error.path().filter(|_| cause != ErrorKind::NotFound)?;
    Some(Recording {
        format,
        path: path.to_owned(),
        size: 0,
    })
}
