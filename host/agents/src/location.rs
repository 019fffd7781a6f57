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
    /// Parses a text: an `https:` URL, an `http:` URL of this machine, or a path, perhaps in a `file:` URL. A relative
    /// path is in `folder`.
    ///
    /// # Errors
    /// If it is a URL of another kind.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Error> {
        if text.starts_with("https://") || text.starts_with("http://") {
            return Ok(Self::Web(text.to_owned()));
        }
        let path = text.strip_prefix("file://").unwrap_or(text);
        if path.contains("://") {
            Err(Error::Location(text.to_owned()))
        } else {
            // Also behind `file://`: the working directory of a later command may be a repository of others.
            Ok(Self::File(folder.join(path)))
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

    #[cfg(unix)]
    #[test]
    fn a_path_never_depends_on_the_working_directory() {
        let parse = |text: &str| Location::parse(text, Path::new("/home"));
        for (text, expected) in [
            ("a.json", "/home/a.json"),
            ("/etc/a.json", "/etc/a.json"),
            ("file://a.json", "/home/a.json"),
            ("file:///etc/a.json", "/etc/a.json"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), expected, "{text}");
        }
        assert!(parse("ftp://host/a").is_err() && parse("file://ftp://host/a").is_err());
    }

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
