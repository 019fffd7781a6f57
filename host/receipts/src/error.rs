//! Why a log cannot be written or read. Each error names the file, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use acp_chain_disk::DiskError;
use acp_chain_rpc::untrusted::Untrusted;

use crate::log::WAIT;

/// An error of a log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system reports an error, such as a full disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process has locked the log.
    #[error(
        "{} has been locked for {} s by another program; end that, or retry",
        Untrusted::new(.0.display()),
        WAIT.as_secs()
    )]
    Locked(PathBuf),
    /// The file of the keys is not as it was written.
    #[error(
        "{} has no keys of a log; move the folder away, and a new log begins",
        Untrusted::new(.0.display())
    )]
    Keys(PathBuf),
    /// The folder has files, and no log.
    #[error(
        "{} has files, and no log of receipts; name an empty folder, or one that does not exist",
        Untrusted::new(.0.display())
    )]
    Foreign(PathBuf),
    /// Other users could change it, or read its keys.
    #[error("the receipts are not safe: {0}")]
    Exposed(String),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers, so there are no keys")]
    Random,
    /// The log is not as it was written.
    #[error(
        "{}: {what}. `acp-chain receipts verify` says more; move the folder away, and a new log begins",
        Untrusted::new(folder.display())
    )]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A record is longer than one can be.
    #[error("a record is too long")]
    TooLong,
}

impl LogError {
    /// The error of a log that is to be written, with the next step where the system refuses that.
    pub(crate) fn of_writing(&self) -> String {
        match self {
            Self::Disk(error) if !error.has_next_step() => format!(
                "{error}; let `--receipts`, or `folder` in `[receipts]`, name a folder that you may write to"
            ),
            _ => self.to_string(),
        }
    }
}

/// An error of the system about a path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> LogError {
    move |error| DiskError::new(path, error).into()
}
