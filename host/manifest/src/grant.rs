//! The grant of a proxy: `powers`, `methods` and `directories`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use acp_chain_powers::{Actions, GrantError, NamedMethods, Pattern};
use serde::Deserialize;
use toml::Spanned;

use super::error::unknown_key;
use super::terms::Wrong;
use super::user::placed;
use acp_chain_channel::Grant;
use acp_chain_sandbox::Directory;

/// `methods`: permissions for messages of methods that no power covers, by method.
pub(super) type MethodsTable = BTreeMap<Spanned<String>, Vec<Spanned<String>>>;

/// An entry of `directories`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectoryTable {
    pub path: PathBuf,
    pub name: Spanned<String>,
    #[serde(default)]
    write: bool,
}

/// The grant of the proxy with this id. Its table begins at `start`.
pub(super) fn read_grant(
    id: &str,
    start: usize,
    powers: &[Spanned<String>],
    methods: MethodsTable,
) -> Result<Grant, Wrong> {
    let mut named = Vec::new();
    for (name, actions) in methods {
        let wrong = |wrong: String| (name.span().start, format!("`methods`: {wrong}"));
        let methods = Pattern::new(name.get_ref()).map_err(|error| wrong(error.to_string()))?;
        let actions = read_actions(&actions)?;
        let one = NamedMethods { methods, actions };
        // One at a time, to find the place of an error.
        Grant::new(id, [], vec![one.clone()]).map_err(|error| wrong(error.to_string()))?;
        named.push(one);
    }
    let keys = powers.iter().map(|power| power.get_ref().as_str());
    Grant::new(id, keys, named).map_err(|error| {
        let is_about = |key: &str| {
            let mut positions = powers.iter().filter(move |power| power.get_ref() == key);
            [positions.next(), positions.next()]
        };
        let power = match &error {
            GrantError::Unknown(key, _) => is_about(key)[0],
            GrantError::Twice(key) => is_about(key)[1],
            GrantError::Lacks(..) | GrantError::Covered(..) | GrantError::Host(_) => powers.first(),
        };
        let at = power.map_or(start, |power| power.span().start);
        (at, format!("`powers`: {error}"))
    })
}

fn read_actions(actions: &[Spanned<String>]) -> Result<Actions, Wrong> {
    let mut all = Actions::default();
    for action in actions {
        let known = Actions::NAMES.iter();
        let known = known.clone().find(|(name, _)| name == action.get_ref());
        let Some((_, known)) = known else {
            let names: Vec<_> = Actions::NAMES.iter().map(|(name, _)| *name).collect();
            let wrong = unknown_key(action.get_ref(), &names);
            return Err((action.span().start, format!("`methods`: {wrong}")));
        };
        all |= *known;
    }
    Ok(all)
}

/// The directories of a proxy, relative to `folder`.
pub(super) fn read_directories(
    tables: Vec<DirectoryTable>,
    folder: &Path,
) -> Result<Vec<Directory>, Wrong> {
    let mut directories: Vec<Directory> = Vec::new();
    for directory in tables {
        let (at, name) = (directory.name.span().start, directory.name.into_inner());
        if name.is_empty() || directories.iter().any(|other| other.name == name) {
            let wrong = format!("each directory needs its own name; {name:?} is not one");
            return Err((at, wrong));
        }
        directories.push(Directory {
            path: placed(folder, &directory.path),
            name,
            write: directory.write,
        });
    }
    Ok(directories)
}
