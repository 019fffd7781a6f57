//! opencode's patterns for paths, as globs of `permissions`.

use std::path::Path;

use super::Entry;
use crate::command::ANY;
use crate::find::{Folders, Scope};
use crate::path::{self, Purpose};

/// Globs for less than a pattern means: its stars stand for slashes, too.
pub(super) fn allowed_paths(entry: &Entry, folders: &Folders) -> Result<Vec<String>, String> {
    let pattern = path::one_star(&entry.pattern);
    if pattern.contains('?') || pattern.starts_with(['/', '~', '$']) {
        return Err(
            "opencode compares it with paths in the repository, which do not begin so".into(),
        );
    }
    if let Some(rest) = pattern.strip_prefix('*') {
        // What may stand at any depth may do so in the session's directory.
        if rest.is_empty() {
            return Ok(vec!["./**".to_owned()]);
        }
        let names = path::names(&format!("**/*{rest}"))?;
        return Ok(path::ended(".", &whole_end(names), false, Purpose::Allow));
    }
    let project = folders.project.as_deref().filter(|project| {
        let is_repository = project.join(".git").exists();
        is_repository && entry.scope == Scope::Project
    });
    let root = project
        .ok_or("it counts from the repository, and a rule's `./` from the session's directory")?;
    let names = whole_end(path::names(&pattern)?);
    let globs = path::ended(&path::folder(root)?, &names, false, Purpose::Allow);
    // Without a wildcard it is one file.
    Ok(globs.into_iter().take(1).collect())
}

/// A last name `*` stands for all below its folder.
fn whole_end(mut names: Vec<String>) -> Vec<String> {
    if let Some(last) = names.last_mut().filter(|last| *last == ANY) {
        "**".clone_into(last);
    }
    names
}

/// Globs for all that a pattern means.
pub(super) fn refused_paths(pattern: &str, home: &Path) -> Result<Vec<String>, String> {
    const STARS: &str = "a wildcard there stands for slashes, too";
    if pattern.contains('?') {
        return Err(STARS.to_owned());
    }
    let in_home = pattern
        .strip_prefix("~/")
        .or(pattern.strip_prefix("$HOME/"));
    let (base, rest) = match (in_home, pattern.strip_prefix('/')) {
        (Some(rest), _) => (path::folder(home)?, path::one_star(rest)),
        (None, Some(rest)) => (String::new(), path::one_star(rest)),
        // Below any folder, as that of the repository is not known here.
        (None, None) => {
            let rest = path::one_star(pattern);
            ("**".to_owned(), rest.trim_start_matches("*/").to_owned())
        }
    };
    let names = path::names(&rest)?;
    let (last, folders) = names.split_last().ok_or("it is empty")?;
    let is_inside = |name: &String| name.contains('*');
    if folders.iter().any(is_inside) || last.trim_matches('*').contains('*') {
        return Err(STARS.to_owned());
    }
    let any = ["**".to_owned()];
    let deep = if last.starts_with('*') { &any[..] } else { &[] };
    let names = [folders, deep, std::slice::from_ref(last)].concat();
    Ok(path::ended(&base, &names, false, Purpose::Refuse))
}
