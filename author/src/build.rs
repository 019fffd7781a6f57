//! Builds the extension of a project.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use acp_chain_package::{MetadataError, Package, Project};

use crate::languages::{BUILD, Language, Site};
use crate::{Error, Toolchains};

/// A built extension, not written yet.
#[derive(Debug)]
pub struct Built {
    /// Its path.
    pub file: PathBuf,
    /// The extension.
    pub component: Vec<u8>,
    /// Its metadata.
    pub package: Package,
    /// The language of its source.
    pub language: &'static str,
}

/// The purpose of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be published.
    Use,
    /// For trying out: built faster. In languages that support that, the result is slower, and marked as a draft.
    Draft,
}

/// Builds the project in a folder, or the one that a file in it describes.
pub fn build(project: &Path, toolchains: &Toolchains, purpose: Purpose) -> Result<Built, Error> {
    let (mut project, folder, language) = find(project)?;
    let folder = &*folder;
    let made = folder.join(BUILD);
    fs::create_dir_all(&made).map_err(Error::disk(&made))?;
    let component = language.make(&Site {
        language,
        folder,
        made: &made,
        toolchains,
        purpose,
    })?;
    project.package.draft = language.has_drafts && purpose == Purpose::Draft;
    let about = |error| Error::Package {
        path: project.file.clone(),
        error,
    };
    let component = project.package.write(&component).map_err(about)?;
    let package = Package::read(Cursor::new(&component)).map_err(|error| about(error.into()))?;
    Ok(Built {
        file: made.join(&package.name).with_added_extension("wasm"),
        component,
        package,
        language: language.title,
    })
}

/// The project in a folder, or the one that a file in it describes, with its folder and its language.
pub(crate) fn find(project: &Path) -> Result<(Project, PathBuf, &'static Language), Error> {
    let project = Project::read(project).map_err(|error| match error {
        MetadataError::None(_) => Error::NoProject(error),
        error => Error::Project(error),
    })?;
    // Toolchains run in the project, and need an absolute path.
    let file = std::path::absolute(&project.file).map_err(Error::disk(&project.file))?;
    let folder = file.parent().unwrap_or(&file).to_owned();
    let language = Language::of(&project, &folder)?;
    Ok((project, folder, language))
}

/// The path of a project's built extension.
#[must_use]
pub fn output(project: &Project) -> PathBuf {
    let folder = project.file.parent().unwrap_or(Path::new(""));
    let name = Path::new(&project.package.name);
    folder.join(BUILD).join(name.with_added_extension("wasm"))
}

impl Built {
    /// Moves it into place. Concurrent readers get the old one or this one.
    pub fn write(&self) -> Result<(), Error> {
        let beside = self.file.with_added_extension("new");
        let written = fs::write(&beside, &self.component);
        let written = written.and_then(|()| fs::rename(&beside, &self.file));
        written.map_err(Error::disk(&self.file))
    }
}
