//! Where paths begin: roots, drives, and the working directory of a session.

use crate::name::Name;
use crate::place::Place;

/// The working directory of a session, if it is unambiguous.
pub struct Directory {
    pub root: String,
    pub names: Vec<Name>,
}

impl Directory {
    pub fn of(cwd: &str) -> Option<Self> {
        let (root, names) = rooted(cwd)?;
        let names = names.into_iter().map(Name::of).collect();
        let is_plain = !cwd.contains(char::is_control);
        is_plain.then_some(Self { root, names })
    }

    /// The number of names that lead to this directory, if the path is this directory or below it.
    pub fn contains(&self, root: &str, names: &[impl AsRef<str>]) -> Option<usize> {
        let own = self.names.iter().map(|name| Some(&*name.given));
        let mut given = names.iter().map(AsRef::as_ref);
        let same = own.eq(self.names.iter().map(|_| given.next()));
        (same && root == self.root).then_some(self.names.len())
    }

    /// Appends a path to this directory, without normalizing it.
    pub fn join(&self, path: &str) -> String {
        if is_apart(path) {
            return path.to_owned();
        }
        let root = self.root.trim_end_matches('/');
        let names = self.names.iter().map(|name| &*name.given);
        let names: Vec<_> = [root].into_iter().chain(names).chain([path]).collect();
        names.join("/")
    }

    /// Whether a path is certainly below the directory, and needs no rule that names it.
    pub fn has(&self, path: &str) -> bool {
        let Some(exact) = Place::of(&self.join(path), Some(self)).exact else {
            return false;
        };
        let below = self.contains(&exact.root, &exact.names);
        below.is_some_and(|own| exact.names.len() > own && !exact.protected.contains(&true))
    }

    /// Whether a path is certainly the directory, or below it.
    pub fn holds(&self, path: &str) -> bool {
        let exact = Place::of(&self.join(path), Some(self)).exact;
        exact.is_some_and(|exact| self.contains(&exact.root, &exact.names).is_some())
    }

    pub fn is_windows(&self) -> bool {
        self.root != "/"
    }
}

/// A path in a directory, both as they are written.
pub fn below(directory: &str, path: &str) -> String {
    if is_apart(path) {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    }
}

/// Whether a path does not begin in the working directory, as far as its beginning tells.
fn is_apart(path: &str) -> bool {
    path.starts_with(['/', '\\', '~', '$', '%']) || drive(path).is_some()
}

/// The root and the names of an absolute path without `..`. POSIX leaves a leading `//` to each system; on Windows it
/// is a share.
pub fn rooted(path: &str) -> Option<(String, Vec<&str>)> {
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

/// The drive of a path, and the rest.
pub fn drive(path: &str) -> Option<(String, &str)> {
    let (letter, rest) = path.split_once(':')?;
    let is_letter = letter.len() == 1 && letter.starts_with(|c: char| c.is_ascii_alphabetic());
    is_letter.then(|| (format!("{}:", letter.to_ascii_uppercase()), rest))
}

/// Whether paths below this folded name in the root may lead anywhere: `/proc/self/root`, `/dev/fd/3`.
pub fn is_linked(name: &str) -> bool {
    matches!(name, "proc" | "dev")
}
