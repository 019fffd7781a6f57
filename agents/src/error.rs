//! What goes wrong, in words for the user. There may be anything from outside in them.

use std::io;
use std::path::{Path, PathBuf};

use crate::record::Kind;

/// Why an agent is not what it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file's system says no.
    #[error("{}: {error}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// Something could not be fetched from a web server, in the fetcher's words.
    #[error("{0}")]
    Web(String),
    /// Something is at an unknown kind of location.
    #[error(
        "`{0}` is not a location that acp-chain knows: give an `https:` URL, or the path of a file"
    )]
    Location(String),
    /// A file is too large.
    #[error("{what}: it is larger than {} MiB", most >> 20)]
    TooLarge {
        /// The file.
        what: String,
        /// How much it may have, in bytes.
        most: u64,
    },
    /// It is not a registry.
    #[error("{from}: this is not a registry of agents: {wrong}")]
    NoRegistry {
        /// Where it is from.
        from: String,
        /// What is wrong.
        wrong: String,
    },
    /// A registry does not know an agent.
    #[error(
        "there is no agent `{name}` in {from}{}; `acp-chain agent list --available` shows all, and `acp-chain agent add {name} -- COMMAND` gives your own command a name",
        nearest(near.as_deref())
    )]
    Unknown {
        /// As the user said it.
        name: String,
        /// The registry.
        from: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// An entry of a registry cannot be used.
    #[error("{from}: the agent `{name}` {wrong}")]
    Entry {
        /// The agent.
        name: String,
        /// The registry.
        from: String,
        /// What is wrong with it.
        wrong: String,
    },
    /// Nobody installed this agent.
    #[error(
        "no agent `{name}` is installed{}; `acp-chain agent add {name}` installs one from the registry, and a command goes after `--`",
        nearest(near.as_deref())
    )]
    NotInstalled {
        /// As the user said it.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// There is one already.
    #[error(
        "an agent `{0}` is installed already: `acp-chain agent update {0}` looks for a newer version, and `acp-chain agent remove {0}` makes room for another"
    )]
    Taken(String),
    /// It cannot be an agent's name.
    #[error(
        "`{0}` cannot be an agent's name: expected 1 to 64 letters, digits, `-`, `_` or `.`, a letter or a digit first"
    )]
    Name(String),
    /// A record cannot be read.
    #[error("{}: {wrong}; `acp-chain agent remove {name}` and `acp-chain agent add {name}` recreate it", path.display())]
    Record {
        /// The agent.
        name: String,
        /// Its record.
        path: PathBuf,
        /// What is wrong.
        wrong: String,
    },
    /// Installed files are gone.
    #[error("the agent `{name}` is broken: {} is gone; {}", path.display(), kind.repair(name))]
    Broken {
        /// The agent.
        name: String,
        /// What is missing.
        path: PathBuf,
        /// What made it.
        kind: Kind,
    },
    /// Another process is changing the store.
    #[error("another `acp-chain agent` is at work in {}; wait until it has finished", .0.display())]
    Busy(PathBuf),
    /// The download differs.
    #[error(
        "{what}: expected {expected}, but got {actual}: it was changed or truncated; nothing was installed"
    )]
    OtherDigest {
        /// What was fetched.
        what: String,
        /// What the registry says.
        expected: String,
        /// What it has.
        actual: String,
    },
    /// A version has other content than before.
    #[error(
        "{what} claims to be version {version}, like yours, but differs: {actual} was {before}. Its publisher has put something else under the same version; nothing was changed. Ask them why; `acp-chain agent remove {name}` and `acp-chain agent add {name}` take it all the same"
    )]
    Moved {
        /// The agent.
        name: String,
        /// Where it is from.
        what: String,
        /// The version of both.
        version: String,
        /// What was installed.
        before: String,
        /// What it would be now.
        actual: String,
    },
    /// An archive is not one that can be unpacked.
    #[error("{archive}: {wrong}; nothing was installed")]
    Archive {
        /// Which.
        archive: String,
        /// What is wrong.
        wrong: String,
    },
    /// A package is not one that can be launched.
    #[error("{package}: {wrong}; nothing was installed")]
    Package {
        /// Which.
        package: String,
        /// What is wrong.
        wrong: String,
    },
    /// A program is missing that installs others.
    #[error("`{program}` is not in PATH, and this agent needs it: {next}")]
    NoProgram {
        /// Which.
        program: &'static str,
        /// Where it is had.
        next: &'static str,
    },
    /// A command of the user's is not a program.
    #[error("`{0}` cannot be found: give the path of a program, or one that is in PATH")]
    NoCommand(String),
    /// An installer failed.
    #[error("`{command}` {how}; nothing was installed{}", if said.is_empty() { "" } else { ". It said:" })]
    Tool {
        /// The whole command.
        command: String,
        /// How it ended.
        how: String,
        /// All that it said.
        said: String,
    },
}

impl Error {
    /// What the system says about a file.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Disk {
            path: path.into(),
            error,
        }
    }

    /// What a program said before it failed, with its line breaks.
    #[must_use]
    pub fn said(&self) -> &str {
        match self {
            Self::Tool { said, .. } => said,
            _ => "",
        }
    }
}

fn nearest(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}
