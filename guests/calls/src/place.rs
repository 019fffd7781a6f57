//! A path of a tool call: its certain meaning, and all its possible ones.

use crate::directory::{Directory, is_linked, rooted};
use crate::fold::fold;
use crate::name::{Name, is_plain};
use crate::protected;
use crate::reading::{Reading, Start, readings};

/// What a path means.
pub struct Place {
    /// Matched by allowing rules. `None` unless the path is an unambiguous absolute path of this machine.
    pub exact: Option<ExactPath>,
    /// All possible meanings, matched by denying and asking rules.
    pub readings: Vec<Reading>,
}

/// A path as written, from the root down.
pub struct ExactPath {
    /// `/`, or a drive such as `C:`.
    pub root: String,
    pub names: Vec<String>,
    /// For each name, whether a rule has to spell it out.
    pub protected: Vec<bool>,
}

impl Place {
    pub fn of(given: &str, directory: Option<&Directory>) -> Self {
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

fn exact(given: &str, directory: Option<&Directory>) -> Option<ExactPath> {
    let (root, names) = rooted(given)?;
    let on_windows = root != "/";
    if directory.is_some_and(|directory| directory.is_windows() != on_windows) {
        return None;
    }
    // The session's own directory may have any name, as the client chose it.
    let own = directory
        .and_then(|own| own.contains(&root, &names))
        .unwrap_or(0);
    let first = names.first();
    let linked = !on_windows && own == 0 && first.is_some_and(|name| is_linked(&fold(name)));
    let plain = names
        .iter()
        .skip(own)
        .all(|name| is_plain(name, on_windows));
    (plain && !linked).then(|| ExactPath {
        root,
        protected: protected::marks(&names, own),
        names: names.into_iter().map(str::to_owned).collect(),
    })
}
