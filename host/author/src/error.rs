//! Errors of creating and building projects. Each message has the next step.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use acp_chain_package::{MetadataError, WriteError};

/// Why a project cannot be created or built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name is invalid.
    #[error("{name:?} cannot be the name of a project in {language}: {wrong}")]
    Name {
        name: String,
        language: &'static str,
        wrong: String,
    },
    /// The folder for the project is not empty.
    #[error("{} exists and is not empty; choose another folder, or empty it", .0.display())]
    Taken(PathBuf),
    /// The folder for the SDK has other files.
    #[error("{} {}, and the SDK of acp-chain goes there; rename it", .0.display(), .1)]
    NotOurs(PathBuf, &'static str),
    /// The system reports an error.
    #[error("{}: {error}", path.display())]
    Disk { path: PathBuf, error: io::Error },
    /// The project's metadata is invalid.
    #[error(transparent)]
    Project(#[from] MetadataError),
    /// The folder has no project.
    #[error("{0}; `acp-chain new` creates a project with it")]
    NoProject(MetadataError),
    /// The project has no source in a known language.
    #[error("{}: no source found; a project with {manifest} has one of {entries}", folder.display())]
    NoSource {
        /// The project's folder.
        folder: PathBuf,
        manifest: String,
        /// The possible names of the source.
        entries: String,
    },
    /// The project has sources in two languages.
    #[error("{} and {} are two proxies, and a project has one; remove one of them", .0.display(), .1.display())]
    TwoSources(PathBuf, PathBuf),
    /// A program is missing, or too old.
    #[error("{language} needs {program}, {found}; {next}")]
    Toolchain {
        language: &'static str,
        /// The program, and its minimum version.
        program: String,
        /// What was found instead.
        found: String,
        /// How to install it.
        next: String,
    },
    /// A program failed, and has printed the error.
    #[error("{program} failed ({status}); its output is above")]
    Failed {
        program: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// Cargo's metadata of a project is unusable.
    #[error("cargo metadata: {0}")]
    Cargo(String),
    /// The interface of a project cannot be read.
    #[error("{}: {wrong}", path.display())]
    Wit { path: PathBuf, wrong: String },
    /// The exports of a source do not match the world of its project.
    #[error("{file}: {wrong}")]
    Exports {
        /// The source.
        file: &'static str,
        /// The error, and how to fix it.
        wrong: String,
    },
    /// The result is not a proxy.
    #[error("the result is not a proxy: {0}")]
    Component(String),
    /// The project's metadata cannot be embedded in its component.
    #[error("{}: {error}", path.display())]
    Package {
        /// The file with the metadata.
        path: PathBuf,
        error: WriteError,
    },
}

impl Error {
    /// An error of the system about a file.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Disk {
            path: path.into(),
            error,
        }
    }

    /// An error in WIT.
    pub(crate) fn wit(path: &Path, wrong: &(impl Display + ?Sized)) -> Self {
        Self::Wit {
            path: path.into(),
            wrong: wrong.to_string(),
        }
    }
}
