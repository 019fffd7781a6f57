//! `[receipts]`: the log of what is decided in a chain.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};

use super::{ManifestError, beside, text};

/// The table `[receipts]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReceiptsEntry {
    /// The folder of the log.
    pub folder: PathBuf,
    /// How many days records are kept; `None` for ever.
    pub keep_days: Option<u32>,
    /// What follows when receipts cannot be written.
    #[serde(default)]
    pub on_failure: OnReceiptsFailure,
}

/// What follows when receipts cannot be written, for example on a full disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnReceiptsFailure {
    /// Turns are stopped, and none begins.
    #[default]
    Stop,
    /// Turns go on without receipts.
    Continue,
}

/// The only table that is read of a manifest before its chain is.
#[derive(Deserialize)]
struct Part {
    receipts: Option<ReceiptsEntry>,
}

impl ReceiptsEntry {
    /// Reads the table of a manifest file, if it has one, before anything else of it. The path of the folder is
    /// relative to that of the manifest.
    ///
    /// # Errors
    /// If the file cannot be read, or the table is wrong.
    pub fn of_manifest(path: &Path) -> Result<Option<Self>, ManifestError> {
        let read = text(path).map_err(|error| ManifestError::unreadable(path, error))?;
        let part: Part = super::parse(&read, path)?;
        Ok(part.receipts.map(|entry| entry.beside(path)))
    }

    /// With the folder relative to that of the file at `path`.
    #[must_use]
    pub fn beside(self, path: &Path) -> Self {
        Self {
            folder: beside(path, &self.folder),
            ..self
        }
    }
}

impl OnReceiptsFailure {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Continue => "continue",
        }
    }
}

impl FromStr for OnReceiptsFailure {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let read = Self::deserialize(StrDeserializer::<ValueError>::new(name));
        read.map_err(|_| "it is `stop` or `continue`")
    }
}
