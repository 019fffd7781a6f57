//! Builds the extension of a project.

use std::fs::{self, File};
use std::io::{Cursor, ErrorKind};
use std::path::{Path, PathBuf};

use acp_chain_package::{Package, Project, WriteError};

use crate::languages::{BUILD, Language, Site};
use crate::{Error, Toolchains};

/// A built extension, which is not written yet.
#[derive(Debug)]
pub struct BuiltExtension {
    /// The path for the extension.
    pub file: PathBuf,
    pub component: Vec<u8>,
    /// Its metadata.
    pub package: Package,
    /// The language of its source.
    pub language: &'static str,
    /// Prevents other builds in this project until the extension is written.
    _lock: File,
}

/// The purpose of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be published.
    Use,
    /// For development: built faster. In languages that support that, the result is slower, and marked as a draft.
    Draft,
}

/// The file that a build locks, in the folder of its results. Extensions cannot have this name.
const LOCK: &str = "_lock";

/// Builds the project in a folder, or the one that a metadata file describes. Waits until other builds there have
/// ended.
pub fn build(
    project: &Path,
    toolchains: &Toolchains,
    purpose: Purpose,
) -> Result<BuiltExtension, Error> {
    let (mut project, folder, language) = find(project)?;
    let folder = &*folder;
    let made = folder.join(BUILD);
    let lock = lock(&made)?;
    let component = language.make(&Site {
        language,
        folder,
        made: &made,
        toolchains,
        purpose,
    })?;
    project.package.draft = language.has_drafts && purpose == Purpose::Draft;
    let about = |error: WriteError| Error::at(&project.file, error);
    let component = project.package.write(&component).map_err(about)?;
    let package = Package::read(Cursor::new(&component)).map_err(|error| about(error.into()))?;
    Ok(BuiltExtension {
        file: made.join(&package.name).with_added_extension("wasm"),
        component,
        package,
        language: language.title,
        _lock: lock,
    })
}

/// Locks the folder of build results, whose files have the same names in every build.
fn lock(made: &Path) -> Result<File, Error> {
    fs::create_dir_all(made).map_err(Error::disk(made))?;
    let path = made.join(LOCK);
    // Windows cannot lock a file that is opened only for appending.
    let file = File::options()
        .read(true)
        .append(true)
        .create(true)
        .open(&path);
    let locked = file.and_then(|file| match file.lock() {
        // Ignore file systems without locks.
        Err(error) if error.kind() != ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    });
    locked.map_err(Error::disk(&path))
}

/// The project in a folder, or the one that a metadata file describes, with its folder and its language.
pub(crate) fn find(project: &Path) -> Result<(Project, PathBuf, &'static Language), Error> {
    let project = Project::read(project)?;
    // Toolchains run in the project, and need an absolute path.
    let file = std::path::absolute(&project.file).map_err(Error::disk(&project.file))?;
    let folder = file.parent().unwrap_or(&file).to_owned();
    let language = Language::of(&project, &folder)?;
    Ok((project, folder, language))
}

/// The path of a project's built extension.
pub fn output(project: &Project) -> PathBuf {
    let folder = project.file.parent().unwrap_or(Path::new(""));
    let name = Path::new(&project.package.name);
    folder.join(BUILD).join(name.with_added_extension("wasm"))
}

impl BuiltExtension {
    /// Writes the extension atomically: concurrent readers see the old one or this one.
    pub fn write(&self) -> Result<(), Error> {
        let beside = self.file.with_added_extension("new");
        let written = fs::write(&beside, &self.component);
        let written = written.and_then(|()| fs::rename(&beside, &self.file));
        written.map_err(Error::disk(&self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_a_project_run_one_at_a_time() {
        let name = format!("acp-chain-author-{}", std::process::id());
        let made = std::env::temp_dir().join(name);
        let first = lock(&made).unwrap();
        let other = File::open(made.join(LOCK)).unwrap();
        other.try_lock().unwrap_err();
        drop(first);
        other.try_lock().unwrap();
        fs::remove_dir_all(&made).unwrap();
    }
}
