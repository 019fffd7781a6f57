//! A path of a tool call: what it is for certain, and all that it may be.

use crate::name::{Name, is_plain};
use crate::protected;
use crate::reading::{Reading, Start, readings};

pub(crate) struct Place {
    /// What a rule that allows is held against. None if the path has another form, or may have
    /// another meaning, than that of an absolute path of this machine.
    pub(crate) exact: Option<Exact>,
    /// What a rule that denies or asks is held against: any of these may be meant.
    pub(crate) readings: Vec<Reading>,
}

/// A path as it is written, from the root down.
pub(crate) struct Exact {
    /// `/`, or a drive such as `C:`.
    pub(crate) root: String,
    pub(crate) names: Vec<String>,
    /// For each of the names: only a rule that writes it out reaches it.
    pub(crate) protected: Vec<bool>,
}

/// The working directory of a session, where it is clear which one is meant.
pub(crate) struct Directory {
    pub(crate) root: String,
    pub(crate) names: Vec<Name>,
}

impl Directory {
    pub(crate) fn of(cwd: &str) -> Option<Self> {
        let (root, names) = rooted(cwd)?;
        let names = names.into_iter().map(Name::of).collect();
        Some(Self { root, names }).filter(|_| !cwd.contains(char::is_control))
    }

    /// How many of these names lead to this directory, if they are its or lead on from there.
    pub(crate) fn contains(&self, root: &str, names: &[impl AsRef<str>]) -> Option<usize> {
        let own = self.names.iter().map(|name| Some(&*name.given));
        let mut given = names.iter().map(AsRef::as_ref);
        let same = own.eq(self.names.iter().map(|_| given.next()));
        (same && root == self.root).then_some(self.names.len())
    }

    pub(crate) fn is_windows(&self) -> bool {
        self.root != "/"
    }
}

impl Place {
    pub(crate) fn of(given: &str, directory: Option<&Directory>) -> Self {
        let exact = exact(given, directory);
        let readings = match &exact {
            Some(exact) => vec![Reading {
                start: Start::Root(exact.root.clone()),
                names: exact.names.iter().map(|name| Name::of(name)).collect(),
            }],
            None => readings(given, directory),
        };
        Self { exact, readings }
    }
}

fn exact(given: &str, directory: Option<&Directory>) -> Option<Exact> {
    let (root, names) = rooted(given)?;
    let on_windows = root != "/";
    if directory.is_some_and(|directory| directory.is_windows() != on_windows) {
        return None;
    }
    // The session's own directory may have any name, for the client has named it.
    let own = directory
        .and_then(|own| own.contains(&root, &names))
        .unwrap_or(0);
    let linked = !on_windows && own == 0 && names.first().is_some_and(|name| is_linked(name));
    let plain = names
        .iter()
        .skip(own)
        .all(|name| is_plain(name, on_windows));
    (plain && !linked).then(|| Exact {
        root,
        protected: protected::marks(&names, own),
        names: names.into_iter().map(str::to_owned).collect(),
    })
}

/// The root and the names of an absolute path that nothing leads up in. What begins with `//` is
/// left to each system by POSIX, and a share on Windows.
fn rooted(path: &str) -> Option<(String, Vec<&str>)> {
    let (root, separators, rest): (_, &[char], _) = match path.strip_prefix('/') {
        Some(rest) => ("/".to_owned(), &['/'], rest),
        None => {
            let (drive, rest) = drive(path)?;
            (drive, &['/', '\\'], rest.strip_prefix(['/', '\\'])?)
        }
    };
    let names = rest.split(separators);
    let names: Vec<_> = names.filter(|name| !matches!(*name, "" | ".")).collect();
    let one_root = !rest.starts_with(['/', '\\']) && !names.contains(&"..");
    one_root.then_some((root, names))
}

/// A drive in front of a path, and what is behind it.
pub(crate) fn drive(path: &str) -> Option<(String, &str)> {
    let (letter, rest) = path.split_once(':')?;
    let is_letter = letter.len() == 1 && letter.starts_with(|c: char| c.is_ascii_alphabetic());
    is_letter.then(|| (format!("{}:", letter.to_ascii_uppercase()), rest))
}

/// Whether what is below this name of the root leads anywhere: `/proc/self/root`, `/dev/fd/3`.
pub(crate) fn is_linked(name: &str) -> bool {
    matches!(name, "proc" | "dev")
}
