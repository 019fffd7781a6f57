//! Whose values they are.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::{LimitError, NAME};

/// The owner of values. Those of different namespaces have nothing in common, not even their keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Namespace {
    /// The name of the extension.
    pub extension: String,
    /// Where the extension comes from, without its version: a reference to a registry, the path of a file, or
    /// `built-in`.
    pub source: String,
    /// The user whom a server has authenticated; `None` for the user whose database it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The folder of the project, without symbolic links; `None` for values that are the same in every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
}

impl Namespace {
    /// The columns by which it is found: extension, source, user, project. An error if they cannot be stored.
    pub(crate) fn columns(&self) -> Result<[Option<&str>; 4], LimitError> {
        let project = self.project.as_deref().map(folder).transpose()?;
        let columns = [
            Some(&*self.extension),
            Some(&*self.source),
            self.user.as_deref(),
            project,
        ];
        if columns.iter().flatten().any(|text| text.len() > NAME) {
            return Err(LimitError::Name);
        }
        Ok(columns)
    }
}

/// The column of a project's folder.
pub(crate) fn folder(path: &Path) -> Result<&str, LimitError> {
    path.to_str().ok_or(LimitError::Folder)
}
