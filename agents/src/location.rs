//! Locations of registries and archives.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// On a web server.
    Web(String),
    /// On this machine.
    File(PathBuf),
}

impl Location {
    /// Parses a text: an `https:` URL, an `http:` URL of this machine, a `file:` URL, or a path relative to `folder`.
    ///
    /// # Errors
    /// If it is a URL of another kind.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Error> {
        if text.starts_with("https://") || text.starts_with("http://") {
            return Ok(Self::Web(text.to_owned()));
        }
        if let Some(path) = text.strip_prefix("file://") {
            return Ok(Self::File(path.into()));
        }
        match text.contains("://") {
            true => Err(Error::Location(text.to_owned())),
            false => Ok(Self::File(folder.join(text))),
        }
    }

    /// The last part of its path.
    pub(crate) fn file_name(&self) -> String {
        let text = self.to_string();
        let path = text.split(['?', '#']).next().unwrap_or_default();
        path.rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Web(url) => f.write_str(url),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
