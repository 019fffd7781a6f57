//! Errors, in words for the user.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use acp_chain_system::writable;

/// The maximum length of a configuration, in bytes.
pub(crate) const LONGEST: u64 = 16 << 20;

/// An error in a text, and its line.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    pub line: usize,
    pub wrong: String,
}

impl Malformed {
    pub(crate) fn new(line: usize, wrong: impl Into<String>) -> Self {
        let wrong = wrong.into();
        Self { line, wrong }
    }

    /// The error, in this file.
    pub(crate) fn in_file(path: &Path) -> impl FnOnce(Self) -> Error {
        move |Self { line, wrong }| {
            Error::Other(format!(
                "{}:{line}: {wrong}; nothing was changed: correct it, and try again",
                path.display()
            ))
        }
    }
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The editor has no configuration in any of its places.
    #[error(
        "no configuration of {title} was found: there is no {}; start it once, or name the file with `--file`",
        paths(looked)
    )]
    NotFound {
        title: &'static str,
        looked: Vec<PathBuf>,
    },
    /// The path is a dangling link.
    #[error("{} is a dangling link; nothing was changed", .0.display())]
    Dangling(PathBuf),
    /// The file is larger than any configuration.
    #[error("{} is larger than {} MiB, too large for an editor's configuration", .0.display(), LONGEST >> 20)]
    TooLarge(PathBuf),
    /// The file is read-only.
    #[error("{} is read-only; make it writable, or, if it is generated, change its source: `--print` shows how", .0.display())]
    ReadOnly(PathBuf),
    /// The file has no agents that can be changed.
    #[error(
        "{} has no agent with a launch command{}", path.display(),
        reasons(left)
    )]
    NoAgents {
        path: PathBuf,
        /// The agents that cannot be changed, and why.
        left: Vec<(String, &'static str)>,
    },
    /// The named agent does not exist.
    #[error(
        "{} has no agent `{name}`{}; it has {}, and {} installed by `acp-chain agent add`", path.display(),
        nearest(near.as_deref()), names(there), are(installed)
    )]
    UnknownAgent {
        path: PathBuf,
        /// The user's spelling.
        name: Box<str>,
        /// A similar name.
        near: Option<Box<str>>,
        /// The existing agents.
        there: Vec<String>,
        /// The agents installed by acp-chain.
        installed: Vec<String>,
    },
    /// The command of this agent is unknown, so the editor launches it by itself, or not here.
    #[error("{}: `{name}` {why}", path.display())]
    Unfit {
        path: PathBuf,
        name: String,
        why: &'static str,
    },
    /// No configuration can contain this path of a program.
    #[error("{}: no editor can launch a program by this path; install acp-chain elsewhere", .0.display())]
    Program(PathBuf),
    /// The program has another name.
    #[error("{} is not named `acp-chain`, by which `acp-chain setup` recognizes it in a configuration; rename it", .0.display())]
    Renamed(PathBuf),
    /// A file that is not ours has the path of ours.
    #[error("{} exists already, and is not from `acp-chain setup`; move it away, or put the output of `--print` into a file of your own", .0.display())]
    Taken(PathBuf),
    /// There is no backup.
    #[error("`acp-chain setup` has no record of a change for {0}; there is nothing to undo")]
    NothingToUndo(&'static str),
    /// The file no longer exists.
    #[error("{} no longer exists; its state before `acp-chain setup` is in {}", path.display(), backup.display())]
    Gone { path: PathBuf, backup: PathBuf },
    /// The file changed after it was planned.
    #[error("{} has changed in the meantime; nothing was written: try again", .0.display())]
    Changed(PathBuf),
    /// Any other error: no caller tells these apart.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// An error about a file.
    pub(crate) fn at(path: &Path, wrong: impl Display) -> Self {
        Self::Other(format!("{}: {wrong}", path.display()))
    }

    /// An error of the system about a file.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| {
            let step = writable::next_step(path, &error);
            Self::at(path, format_args!("{error}{step}"))
        }
    }

    /// The editor has several configurations.
    pub(crate) fn several(title: &str, found: &[PathBuf]) -> Self {
        Self::Other(format!(
            "{title} has several configurations, {}; choose one with `--file`",
            paths(found)
        ))
    }

    /// A record cannot be read.
    pub(crate) fn record(path: &Path, wrong: impl Display) -> Self {
        Self::at(
            path,
            format_args!("{wrong}; the record of a configuration cannot be read"),
        )
    }
}

fn paths(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

fn names(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn reasons(left: &[(String, &'static str)]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let reasons = left.iter().map(|(name, why)| format!("`{name}` {why}"));
    format!(" ({})", reasons.collect::<Vec<_>>().join("; "))
}

fn are(installed: &[String]) -> String {
    let verb = if installed.len() > 1 { "are" } else { "is" };
    format!("{} {verb}", names(installed))
}

fn nearest(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}
