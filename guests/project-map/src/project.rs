//! The directory of a session, and names within it. By its text, no name leads out of the directory; symbolic links are
//! resolved by the client.

use acp_chain_proxy::path;

/// The working directory of a session.
pub(crate) struct Project {
    cwd: String,
    normal: String,
}

impl Project {
    pub(crate) fn new(cwd: String) -> Self {
        let normal = path::normal(&cwd);
        Self { cwd, normal }
    }

    /// The name of a file in this directory, with `/` between its parts, from an absolute path or one relative to the
    /// directory.
    pub(crate) fn name(&self, path: &str) -> Result<String, String> {
        let path = path.trim();
        let whole = if path::is_absolute(path) {
            path::normal(path)
        } else {
            path::normal(&format!("{}/{}", self.normal, path.replace('\\', "/")))
        };
        let within = whole.strip_prefix(&self.normal);
        let name = within.and_then(|name| {
            if self.normal.ends_with('/') {
                Some(name)
            } else {
                name.strip_prefix('/')
            }
        });
        match name {
            Some(name) if !name.is_empty() => Ok(name.to_owned()),
            _ => Err(format!("it is not a file in the project, {}", self.cwd)),
        }
    }

    /// The absolute path of a file, in the style of the client's machine.
    pub(crate) fn path(&self, name: &str) -> String {
        path::join(&self.cwd, name)
    }
}

/// The directory of a file, empty for the project's own.
pub(crate) fn directory(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The last part of a name.
pub(crate) fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The text after the last dot of a name.
pub(crate) fn extension(name: &str) -> Option<&str> {
    last(name).rsplit_once('.').map(|(_, extension)| extension)
}

/// A name, relative to a directory.
pub(crate) fn beside(directory: &str, name: &str) -> String {
    match directory {
        "" => path::normal(name),
        directory => path::normal(&format!("{directory}/{name}")),
    }
}
