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
        if text.contains("://") {
            Err(Error::Location(text.to_owned()))
        } else {
            Ok(Self::File(folder.join(text)))
        }
    }

    /// The last part of its path.
    pub(crate) fn file_name(&self) -> String {
        match self {
            Self::Web(url) => {
                let path = url.split(['?', '#']).next().unwrap_or_default();
                path.rsplit('/').next().unwrap_or_default().to_owned()
            }
            Self::File(path) => {
                let name = path.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_has_a_query_behind_its_file() {
        let name = |text: &str| {
            let location = Location::parse(text, Path::new("/home"));
            location.unwrap().file_name()
        };
        assert_eq!(name("https://host/a/b.zip?c=/d.exe#e"), "b.zip");
        assert_eq!(name("a #1?/b#2?.zip"), "b#2?.zip");
        assert_eq!(name("file:///home/b#2.zip"), "b#2.zip");
    }
}
