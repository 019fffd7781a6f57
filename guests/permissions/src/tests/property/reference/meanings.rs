//! All possible meanings of a path, one by one.

use super::globs::{Glob, instance};
use super::names::{has_wildcard, percent_decoded, same};
use super::paths::{Path, certain, directory};

/// All possible meanings of the path, as far as they matter for the glob.
pub fn meanings(path: &str, cwd: Option<&str>, glob: &Glob) -> Vec<Path> {
    let own = directory(cwd);
    let mut meanings = Vec::new();
    if let Some(certain) = certain(path, cwd) {
        meanings.push(certain);
    } else {
        meanings.extend(posix(path, own.as_ref(), glob));
        let mut texts = vec![path.to_owned()];
        if same(path).trim_start().starts_with("file:") {
            texts.push(percent_decoded(path));
        }
        for text in texts {
            let text = same(&text);
            let text = text.split('\0').next().unwrap().trim_start();
            for up in [false, true] {
                meanings.extend(elsewhere(text, own.as_ref(), glob, up));
            }
        }
    }
    // In a directory that is not known, `./` may begin at any name.
    if own.is_none() && glob.root == "project" {
        let within = |path: &Path| in_project(&path.names);
        meanings = meanings.iter().flat_map(within).collect();
    }
    meanings
}

fn in_project(names: &[String]) -> Vec<Path> {
    let starts = 0..names.len().max(1);
    let path = |from: usize| Path {
        root: "project".into(),
        names: names[from..].to_vec(),
    };
    starts.map(path).collect()
}

fn posix(path: &str, own: Option<&Path>, glob: &Glob) -> Vec<Path> {
    let parts: Vec<&str> = path.split('/').collect();
    match (path.starts_with('/'), own) {
        (true, _) => vec![Path {
            root: "/".into(),
            names: walk(&[], &parts, None),
        }],
        (false, Some(own)) => vec![Path {
            root: own.root.clone(),
            names: walk(&own.names, &parts, None),
        }],
        (false, None) => below_any(&walk(&[], &parts, None), glob),
    }
}

fn elsewhere(text: &str, own: Option<&Path>, glob: &Glob, up: bool) -> Vec<Path> {
    let parts: Vec<&str> = text.split(['/', '\\']).collect();
    let walk = |parts: &[&str]| walk(&[], parts, Some(up));
    let mut all = match (text.starts_with(['/', '\\']), own) {
        (true, _) => vec![Path {
            root: "/".into(),
            names: walk(&parts),
        }],
        (false, Some(own)) => vec![Path {
            root: own.root.clone(),
            names: self::walk(&own.names, &parts, Some(up)),
        }],
        (false, None) => below_any(&walk(&parts), glob),
    };
    let windows = own.is_some_and(|own| own.root != "/");
    let posix = own.is_some_and(|own| own.root == "/");
    let names = walk(&parts[1..]);
    if text.starts_with(['/', '\\']) {
        let first = names.first().map(String::as_str);
        let two = text.chars().nth(1).is_some_and(|c| "/\\".contains(c));
        let linked = !two && (first == Some("proc") || first == Some("dev"));
        if two || windows || linked {
            all.extend(anywhere(&names, glob, own));
        }
        if linked {
            let opened = parts.iter().enumerate().find_map(|(at, part)| match *part {
                "cwd" => Some(at + 1),
                "fd" if at + 2 <= parts.len() => Some(at + 2),
                _ => None,
            });
            if let Some(from) = opened {
                all.extend(below_any(&walk(&parts[from..]), glob));
            }
        }
        return all;
    }
    let first: Vec<char> = parts[0].chars().collect();
    match first[..] {
        [letter, ':', ref rest @ ..] if letter.is_ascii_alphabetic() => {
            if !rest.is_empty() || parts.len() == 1 {
                let name: String = rest.iter().collect();
                let parts: Vec<&str> = [&*name]
                    .into_iter()
                    .chain(parts[1..].iter().copied())
                    .collect();
                all.extend(below_any(&walk(&parts), glob));
            } else if posix {
                all.extend(anywhere(&names, glob, own));
            } else {
                all.push(Path {
                    root: format!("{}:", letter.to_ascii_uppercase()),
                    names,
                });
            }
        }
        ['~' | '$' | '%', ..] => all.extend(below_home(&names, glob, own)),
        [.., ':'] => all.extend(anywhere(&names, glob, own)),
        _ => {}
    }
    all
}

/// The remaining names; `up` says whether dots with spaces lead up, or nowhere.
fn walk(base: &[String], parts: &[&str], up: Option<bool>) -> Vec<String> {
    let mut names = base.to_vec();
    for part in parts {
        let dots = !part.is_empty() && part.chars().all(|c| c == '.' || c == ' ');
        if *part == ".." || (dots && *part != "." && up == Some(true)) {
            names.pop();
        } else if !part.is_empty() && *part != "." && !(dots && up.is_some()) {
            names.push((*part).to_owned());
        }
    }
    names
}

/// The names from each of them on, at every root that the glob could mean.
fn anywhere(names: &[String], glob: &Glob, own: Option<&Path>) -> Vec<Path> {
    let base = match (&*glob.pattern_root, own) {
        ("project", Some(own)) => own.names.clone(),
        _ => Vec::new(),
    };
    let starts = 0..names.len().max(1);
    let path = |from: usize| Path {
        root: glob.root.clone(),
        names: base.iter().chain(&names[from..]).cloned().collect(),
    };
    starts.map(path).collect()
}

/// The names in each directory that could be on the glob's way.
fn below_any(names: &[String], glob: &Glob) -> Vec<Path> {
    below(names, glob, glob.segments.len())
}

/// Those of them that could be a home directory.
fn below_home(names: &[String], glob: &Glob, own: Option<&Path>) -> Vec<Path> {
    let segments = &glob.segments;
    let most = if glob.pattern_root == "project" {
        own.map_or(0, |own| own.names.len())
    } else {
        let no_homes = ["etc", "proc"];
        let is_home = |count: &usize| {
            let before = &segments[..*count];
            let named_behind = before
                .iter()
                .skip_while(|name| *name != "**")
                .any(|name| name != "**");
            let hidden = before.iter().any(|name| name.starts_with('.'));
            let system = before
                .first()
                .is_some_and(|name| no_homes.contains(&&**name));
            !(named_behind || hidden || system)
        };
        (0..=segments.len()).take_while(is_home).last().unwrap_or(0)
    };
    below(names, glob, most)
}

/// The names in each directory of at most so many segments of the glob.
fn below(names: &[String], glob: &Glob, most: usize) -> Vec<Path> {
    let mut directories: Vec<Vec<String>> = vec![Vec::new()];
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    for segment in &glob.segments[..most] {
        let names: &[&[&str]] = match &**segment {
            "**" => &[&[], &["x"]],
            segment if has_wildcard(segment) => &[&["\u{1}"]],
            segment => &[&[segment]],
        };
        let longer = |directory: &Vec<String>| -> Vec<Vec<String>> {
            let with = names.iter().map(|names| {
                let names = names
                    .iter()
                    .map(|name| name.replace('\u{1}', &instance(segment)));
                directory.iter().cloned().chain(names).collect()
            });
            with.collect()
        };
        open = open.iter().flat_map(longer).collect();
        directories.extend(open.clone());
    }
    let path = |directory: &Vec<String>| Path {
        root: glob.root.clone(),
        names: directory.iter().chain(names).cloned().collect(),
    };
    directories.iter().map(path).collect()
}
