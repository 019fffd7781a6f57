//! Every name that resolving a path looks up. Replacing any of them changes where the path leads.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The maximum number of links, as in the system.
const LINKS: usize = 40;

/// The names on the way, each with the resolved path of its directory. The last is the name of the path's target,
/// whether it exists or not.
pub fn names(path: &Path) -> Vec<PathBuf> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (mut here, mut names, mut links) = (PathBuf::new(), Vec::new(), 0);
    let mut ahead = VecDeque::new();
    push(&mut ahead, &path);
    while let Some(step) = ahead.pop_front() {
        if step == OsStr::new("..") {
            here.pop();
            continue;
        }
        // At the root, resolution starts over; it is not a name.
        let name = here.join(step);
        if name.parent().is_none() {
            here = name;
            continue;
        }
        match fs::read_link(&name) {
            Ok(target) if links < LINKS => {
                links += 1;
                push(&mut ahead, &target);
            }
            _ => here.clone_from(&name),
        }
        names.push(name);
    }
    names
}

/// Puts the steps of a path before all others.
fn push(ahead: &mut VecDeque<OsString>, path: &Path) {
    let steps = path.components().filter(|step| *step != Component::CurDir);
    let steps: Vec<_> = steps.map(|step| step.as_os_str().to_owned()).collect();
    for step in steps.into_iter().rev() {
        ahead.push_front(step);
    }
}

#[cfg(all(test, unix))]
mod tests;
