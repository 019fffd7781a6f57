//! Errors of creating and building projects. Each message has the next step.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitStatus;

use acp_chain_package::MetadataError;

/// Why a project cannot be created or built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The project's metadata is invalid.
    #[error(transparent)]
    Project(#[from] MetadataError),
    /// Any other error: no caller tells these apart.
    #[error("{0}")]
    Other(String),
}

impl Error {
    pub(crate) fn new(text: impl Display) -> Self {
        Self::Other(text.to_string())
    }

    /// An error about a file, such as one of the system.
    pub(crate) fn at(path: &Path, wrong: impl Display) -> Self {
        Self::Other(format!("{}: {wrong}", path.display()))
    }

    /// An error of the system about a file.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::at(path, error)
    }

    /// A program is missing, or too old; with what was found instead, and how to install it.
    pub(crate) fn toolchain(language: &str, program: &str, found: &str, next: &str) -> Self {
        Self::Other(format!("{language} needs {program}, {found}; {next}"))
    }

    /// A program failed, and has printed the error.
    pub(crate) fn failed(program: &str, status: ExitStatus) -> Self {
        Self::Other(format!("{program} failed ({status}); its output is above"))
    }

    /// The result is not a proxy.
    pub(crate) fn component(wrong: impl Display) -> Self {
        Self::Other(format!("the result is not a proxy: {wrong}"))
    }
}
