//! Makes changes, and keeps backups: for each file a folder with a record, and the bytes.
//!
//! Invariant, even if the process is killed: the state of a file before the first change can be restored.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::editors::Editor;
use crate::error::Error;
use crate::file::{read, resolved};
use crate::places::Folders;
use crate::plan::{Change, chained, without};

/// Replaces a file completely or not at all, keeping its permissions.
pub type Write = fn(&Path, &[u8]) -> io::Result<()>;

/// The backups of all changes, in a folder of the user.
#[derive(Clone, Debug)]
pub struct Backups {
    folder: PathBuf,
    write: Write,
}

/// A plan to undo changes.
#[derive(Clone, Debug)]
pub struct UndoPlan {
    /// The file itself.
    pub path: PathBuf,
    /// The change; `None` if the file is unchanged.
    pub change: Option<Change>,
    /// Whether the file is restored exactly. If not, it was edited since, and only the entries for acp-chain are
    /// removed.
    pub is_exact: bool,
    /// The agents that would still launch acp-chain, but did not before the setup. While there are any, the record is
    /// kept.
    pub left: Vec<String>,
}

/// The record of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    path: String,
    /// The digest of the original file; `None` if it did not exist.
    before: Option<String>,
    /// The digest of our version.
    after: String,
    /// The changed agents.
    agents: Vec<String>,
    /// The added agents.
    #[serde(default)]
    added: Vec<String>,
    /// Whether the file's folder was made for it.
    #[serde(default)]
    made_folder: bool,
}

impl Backups {
    /// Those in this folder, which exists, and is accessible to its user only.
    pub fn new(folder: PathBuf, write: Write) -> Self {
        Self { folder, write }
    }

    /// Makes a planned change.
    ///
    /// # Errors
    /// If the file has changed since, or the disk does not let it be written.
    pub fn apply(&self, editor: &Editor, change: &Change) -> Result<(), Error> {
        change.check()?;
        let Some(after) = &change.after else {
            return Ok(());
        };
        let kept = self.record(&change.path)?;
        let (mut agents, mut added) = (change.agents.clone(), change.added.clone());
        let before = match &kept {
            None => change.before.clone(),
            Some(record) => {
                extend(&mut agents, &record.agents);
                extend(&mut added, &record.added);
                let now = change.before.as_deref().map(digest);
                match now {
                    // Our version or the original: only we have written it, or we were killed before writing.
                    now if now == record.before || now.as_ref() == Some(&record.after) => {
                        self.backup(&change.path, record)?
                    }
                    // The file was edited since: back it up without our entries.
                    _ => match &change.before {
                        Some(text) => self.without(editor, &change.path, text, record)?,
                        None => None,
                    },
                }
            }
        };
        let folder = change.path.parent();
        let is_new = folder.is_some_and(|folder| !folder.exists());
        let record = Record {
            path: change.path.display().to_string(),
            before: before.as_deref().map(digest),
            after: digest(after),
            agents,
            added,
            made_folder: is_new || kept.is_some_and(|record| record.made_folder),
        };
        self.keep(&change.path, &record, before.as_deref())?;
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(Error::disk(folder))?;
        }
        let written = (self.write)(&change.path, after.as_bytes());
        written.map_err(Error::disk(&change.path))
    }

    /// The configurations of an editor that are changed, among those in its usual places.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn changed(&self, editor: &Editor, places: &Folders) -> Result<Vec<PathBuf>, Error> {
        let known = self.known(editor.changeable(places))?;
        Ok(known.into_iter().map(|(path, _)| path).collect())
    }

    /// Those of these files that have a record, each once.
    fn known(&self, files: Vec<PathBuf>) -> Result<Vec<(PathBuf, Record)>, Error> {
        let mut known: Vec<(PathBuf, Record)> = Vec::new();
        for file in files {
            // The file may no longer exist.
            let path = resolved(&file).unwrap_or(file);
            let is_known = known.iter().any(|(other, _)| *other == path);
            if let Some(record) = self.record(&path)?.filter(|_| !is_known) {
                known.push((path, record));
            }
        }
        Ok(known)
    }

    /// Plans to undo the changes for an editor.
    ///
    /// # Errors
    /// If there are no records, or those of several files, or if they cannot be read.
    pub fn undo(
        &self,
        editor: &Editor,
        places: &Folders,
        file: Option<&Path>,
    ) -> Result<UndoPlan, Error> {
        let files = match file {
            Some(file) => vec![std::path::absolute(file).map_err(Error::disk(file))?],
            None => editor.changeable(places),
        };
        let mut known = self.known(files)?;
        if known.len() > 1 {
            let found: Vec<_> = known.into_iter().map(|(path, _)| path).collect();
            return Err(Error::several(editor.title, &found));
        }
        let (path, record) = known.pop().ok_or(Error::NothingToUndo(editor.title))?;
        let before = read(&path)?;
        let now = before.as_deref().map(digest);
        let (after, is_exact) = match &before {
            _ if now == record.before => (before.clone(), true),
            None => {
                let backup = self.place(&path).join(backup_name(&record));
                return Err(Error::Gone { path, backup });
            }
            Some(_) if now.as_ref() == Some(&record.after) => (self.backup(&path, &record)?, true),
            Some(text) => (self.without(editor, &path, text, &record)?, false),
        };
        let mut left = Vec::new();
        if let Some(after) = after.as_deref().filter(|_| !is_exact) {
            left = chained(editor, &path, after)?;
            // The user's original.
            let original = self.backup(&path, &record).ok().flatten();
            let own = chained(editor, &path, original.as_deref().unwrap_or_default());
            let own = own.unwrap_or_default();
            left.retain(|name| !own.contains(name));
        }
        let change = (before != after).then(|| Change {
            path: path.clone(),
            before,
            after,
            agents: Vec::new(),
            added: Vec::new(),
        });
        Ok(UndoPlan {
            path,
            change,
            is_exact,
            left,
        })
    }

    /// Undoes a change, and removes its record unless agents that launch acp-chain are left.
    ///
    /// # Errors
    /// If the file has changed since, or the disk does not let it be written.
    pub fn revert(&self, undo: &UndoPlan) -> Result<(), Error> {
        if let Some(change) = &undo.change {
            change.check()?;
            let written = match &change.after {
                Some(after) => (self.write)(&change.path, after.as_bytes()),
                None => fs::remove_file(&change.path),
            };
            written.map_err(Error::disk(&change.path))?;
            if change.after.is_none() {
                self.remove_folder(&change.path)?;
            }
        }
        if !undo.left.is_empty() {
            return Ok(());
        }
        let place = self.place(&undo.path);
        fs::remove_dir_all(&place).map_err(Error::disk(&place))
    }

    /// Removes the folder of a file that was removed, if it was made for that file.
    fn remove_folder(&self, path: &Path) -> Result<(), Error> {
        let record = self.record(path)?;
        if let Some(folder) = path.parent()
            && record.is_some_and(|record| record.made_folder)
        {
            // It may have other files by now, and then stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// The folder of a file's record.
    fn place(&self, path: &Path) -> PathBuf {
        self.folder.join(hex(path.as_os_str().as_encoded_bytes()))
    }

    fn record(&self, path: &Path) -> Result<Option<Record>, Error> {
        let file = self.place(path).join(RECORD);
        let Some(text) = read(&file)? else {
            return Ok(None);
        };
        let record = serde_json::from_str(&text);
        let wrong = |error: serde_json::Error| Error::record(&file, error);
        record.map(Some).map_err(wrong)
    }

    /// The original content of a file.
    fn backup(&self, path: &Path, record: &Record) -> Result<Option<String>, Error> {
        let Some(expected) = &record.before else {
            return Ok(None);
        };
        let file = self.place(path).join(backup_name(record));
        let text = read(&file)?.filter(|text| digest(text) == *expected);
        let wrong = || Error::record(&file, "its content does not match its digest");
        text.map(Some).ok_or_else(wrong)
    }

    /// An edited text without the record's changes.
    fn without(
        &self,
        editor: &Editor,
        path: &Path,
        text: &str,
        record: &Record,
    ) -> Result<Option<String>, Error> {
        let original = self.backup(path, record).ok().flatten();
        let original = original.as_deref().unwrap_or_default();
        without(editor, path, text, &record.agents, &record.added, original)
    }

    fn keep(&self, path: &Path, record: &Record, before: Option<&str>) -> Result<(), Error> {
        let place = self.place(path);
        fs::create_dir_all(&place).map_err(Error::disk(&place))?;
        if let Some(before) = before {
            let file = place.join(backup_name(record));
            (self.write)(&file, before.as_bytes()).map_err(Error::disk(&file))?;
        }
        let file = place.join(RECORD);
        let text = serde_json::to_string_pretty(record).unwrap_or_default();
        (self.write)(&file, text.as_bytes()).map_err(Error::disk(&file))
    }
}

const RECORD: &str = "record.json";

/// Adds the missing names.
fn extend(names: &mut Vec<String>, more: &[String]) {
    let lacking = more.iter().filter(|name| !names.contains(name));
    let new: Vec<_> = lacking.cloned().collect();
    names.extend(new);
}

/// The file name of the backup, which differs for each record, so that a record is never without its bytes.
fn backup_name(record: &Record) -> String {
    let digest = record.before.as_deref().unwrap_or_default();
    format!("before-{}", digest.trim_start_matches("sha256:"))
}

fn digest(text: &str) -> String {
    format!("sha256:{}", hex(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
