//! Why a client cannot go on, in words for the user.

use std::io;

use acp_chain_project::FileError;
use acp_chain_sandbox::DirectoryError;

/// Why a client cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder of a session cannot be opened.
    #[error(transparent)]
    Folder(#[from] FileError),
    /// The folder of a session cannot be kept open.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error("the project is no longer built")]
    NotBuilt,
    #[error("no session begins: {0}")]
    NoSession(String),
    #[error(transparent)]
    App(#[from] acp_chain_app::Error),
    /// A file, a process or a stream, and what it is.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// What the demo cannot do without.
    #[error("{0}")]
    Demo(String),
}

impl Error {
    /// What does not work, for [`map_err`](Result::map_err).
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |error| Self::Io(what, error)
    }
}
