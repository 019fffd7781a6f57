//! Why something is not loaded or stored. Each error names the file, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use acp_chain_disk::DiskError;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_system::UserFiles;

use crate::database::WAIT;
use crate::limits::LimitError;

/// An error of a database. The values in it are as before.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A limit would be exceeded.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The system reports an error.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The system cannot say whether it exists, as where a file has the place of a folder.
    #[error(
        "{} cannot be reached: {error}; {}",
        Untrusted::new(path.display()),
        UserFiles::Data.step(UserFiles::YOURS)
    )]
    Unreachable {
        /// The database.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The disk is full.
    #[error(
        "{}: the disk is full; free some space, then retry. Nothing was lost",
        Untrusted::new(path.display())
    )]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// Another process has locked it.
    #[error(
        "{} has been locked for {} s by another program; end that, or retry",
        Untrusted::new(path.display()),
        WAIT.as_secs()
    )]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// It may not be written to, or its folder may not.
    #[error(
        "{} is read-only, so nothing can be stored; make it and its folder writable, or {}",
        Untrusted::new(path.display()),
        UserFiles::Data.step(UserFiles::YOURS)
    )]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// It is not as it was written.
    #[error(
        "{} is damaged: {}. `acp-chain state wipe --all` replaces it by an empty one, and all that proxies have \
         stored is lost",
        Untrusted::new(path.display()),
        quote(what, MAX_QUOTE)
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A newer version has written it.
    #[error(
        "{} is of a newer acp-chain; use that one, or `acp-chain state wipe --all`, which replaces it by an empty \
         one",
        Untrusted::new(path.display())
    )]
    Newer {
        /// The database.
        path: PathBuf,
    },
    /// The store of a server's replicas cannot be used. The text is for operators.
    #[error("{0}")]
    Store(String),
    /// Other users could change it.
    #[error("stored values are not safe: {0}")]
    Exposed(String),
    /// The engine reports another error.
    #[error("{}: {error}. The stored values are as before", Untrusted::new(path.display()))]
    Engine {
        /// The database.
        path: PathBuf,
        /// The error.
        error: rusqlite::Error,
    },
}

impl StateError {
    /// Whether the database is of no use to this version, and [`Database::reset`](crate::Database::reset) the only
    /// way to go on with it.
    #[must_use]
    pub fn needs_reset(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Newer { .. })
    }

    fn of_engine(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            code if is_damage(code, &error) => Self::damaged(&path, &error.to_string()),
            _ => Self::Engine { path, error },
        }
    }

    pub(crate) fn damaged(path: &Path, what: &str) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what: what.to_owned(),
        }
    }
}

/// Whether an error says that the file is not as it was written: pages do not fit together, a value is not of its type,
/// or a table or a column is missing, which is the only error that our statements can have.
fn is_damage(code: Option<ErrorCode>, error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Of;
    match error {
        Of::FromSqlConversionFailure(..)
        | Of::IntegralValueOutOfRange(..)
        | Of::InvalidColumnType(..)
        | Of::SqlInputError { .. }
        | Of::Utf8Error(..) => true,
        _ => matches!(
            code,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
        ),
    }
}

/// An error of the system about a path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> StateError {
    move |error| DiskError::new(path, error).into()
}

/// An error that does not say which database it is about.
#[derive(Debug)]
pub(crate) enum Fault {
    Limit(LimitError),
    Engine(rusqlite::Error),
}

impl Fault {
    pub(crate) fn at(self, path: &Path) -> StateError {
        match self {
            Self::Limit(limit) => limit.into(),
            Self::Engine(error) => StateError::of_engine(path, error),
        }
    }
}

impl From<LimitError> for Fault {
    fn from(limit: LimitError) -> Self {
        Self::Limit(limit)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}
