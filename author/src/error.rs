//! Why a project cannot be created or built. Each message says what to do next.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use acp_chain_package::{MetadataError, WriteError};

/// Why a project cannot be created or built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing can be called so.
    #[error("{name:?} cannot be the name of a project in {language}: {wrong}")]
    Name {
        /// What it was to be called.
        name: String,
        /// In which language.
        language: &'static str,
        /// What is wrong with it.
        wrong: String,
    },
    /// The folder for the project is not empty.
    #[error("{} is there already, and is not empty; name another, or empty it", .0.display())]
    Taken(PathBuf),
    /// Something else is in the SDK's place.
    #[error("{} {}, and the SDK of acp-chain goes there; rename it", .0.display(), .1)]
    NotOurs(PathBuf, &'static str),
    /// The system says no.
    #[error("{}: {error}", path.display())]
    Disk {
        /// About this.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// The project's metadata is invalid.
    #[error(transparent)]
    Project(#[from] MetadataError),
    /// There is no project.
    #[error("{0}; `acp-chain new` creates a project with it")]
    NoProject(MetadataError),
    /// It has no source that would tell its language.
    #[error("{}: there is no source; a project with {manifest} has one of {entries}", folder.display())]
    NoSource {
        /// The project's folder.
        folder: PathBuf,
        /// The file that says what it is.
        manifest: String,
        /// What the source could be called.
        entries: String,
    },
    /// It has sources in two languages.
    #[error("{} and {} are two proxies, and a project has one; remove one of them", .0.display(), .1.display())]
    TwoSources(PathBuf, PathBuf),
    /// A program is missing, or too old.
    #[error("{language} needs {program}, {found}; {next}")]
    Toolchain {
        /// Which language.
        language: &'static str,
        /// Which program, and from which version on.
        program: String,
        /// What there is instead of it.
        found: String,
        /// How to get it.
        next: String,
    },
    /// A program failed. It has said why itself.
    #[error("{program} failed ({status}); its output is above")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// Cargo's metadata of a project is unusable.
    #[error("cargo metadata: {0}")]
    Cargo(String),
    /// The interface of a project cannot be read.
    #[error("{}: {wrong}", path.display())]
    Wit {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        wrong: String,
    },
    /// A source exports less than the world of its project, or more.
    #[error("{file}: {wrong}")]
    Exports {
        /// The source.
        file: &'static str,
        /// What is wrong, and what to do.
        wrong: String,
    },
    /// The result is not a proxy.
    #[error("the result is not a proxy: {0}")]
    Component(String),
    /// The project's metadata cannot be written into its component.
    #[error("{}: {error}", path.display())]
    Package {
        /// The file that says it.
        path: PathBuf,
        /// Why not.
        error: WriteError,
    },
}

impl Error {
    /// What the system says about a file.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Disk {
            path: path.into(),
            error,
        }
    }

    /// What is wrong with WIT.
    pub(crate) fn wit(path: &Path, wrong: &(impl Display + ?Sized)) -> Self {
        Self::Wit {
            path: path.into(),
            wrong: wrong.to_string(),
        }
    }
}
