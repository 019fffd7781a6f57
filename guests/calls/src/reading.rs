//! Possible meanings of an ambiguous path.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::directory::{Directory, drive, is_linked};
use crate::fold::fold;
use crate::name::Name;

pub struct Reading {
    pub start: Start,
    pub names: Vec<Name>,
}

/// Where the names of a reading begin.
#[derive(Clone)]
pub enum Start {
    /// At a root: `/`, or a drive such as `C:`.
    Root(String),
    /// At something that may be any root: a share, a link of the system.
    Somewhere,
    /// In an unknown directory.
    Below,
    /// In the user's home directory, or the working directory of a shell, which is unknown here.
    Home,
    /// In a directory that another variable names.
    Variable,
}

/// What stands for a home directory, or that of a shell, in lower case; beside `~` and what follows it.
const HOMES: &[&str] = &[
    "$home",
    "${home}",
    "$pwd",
    "${pwd}",
    "%homepath%",
    "%userprofile%",
    "$env:userprofile",
];

/// Whether a variable has this name of a home directory, or that of a shell.
pub fn is_home(name: &str) -> bool {
    let sign = format!("${}", name.to_ascii_lowercase());
    HOMES.contains(&&*sign)
}

/// All possible meanings of an ambiguous path.
pub fn readings(given: &str, directory: Option<&Directory>) -> Vec<Reading> {
    let mut readings = Vec::new();
    Splitting::Strict.read(given, directory, &mut readings);
    let is_uri = fold(given).trim_start().starts_with("file:");
    let decoded = is_uri.then(|| percent_decode_str(given).decode_utf8_lossy());
    for text in [Some(Cow::Borrowed(given)), decoded].into_iter().flatten() {
        let folded = fold(&text);
        // C strings end at a NUL.
        let folded = folded.split('\0').next().unwrap_or_default().trim_start();
        for dots_lead_up in [false, true] {
            Splitting::Loose { dots_lead_up }.read(folded, directory, &mut readings);
        }
    }
    readings
}

/// How a path is split.
enum Splitting {
    /// As in POSIX.
    Strict,
    /// As anywhere else. Windows ignores trailing dots and spaces in names: then `. .` becomes empty, or leads up.
    Loose { dots_lead_up: bool },
}

impl Splitting {
    fn read(&self, path: &str, directory: Option<&Directory>, readings: &mut Vec<Reading>) {
        let separators: &[char] = match self {
            Self::Strict => &['/'],
            Self::Loose { .. } => &['/', '\\'],
        };
        let parts: Vec<_> = path.split(separators).collect();
        let slashes = path.len() - path.trim_start_matches(separators).len();
        if matches!(self, Self::Loose { .. }) {
            for (start, behind) in self.starts(&parts, slashes, directory) {
                let names = self.names(&[], &behind);
                readings.push(Reading { start, names });
            }
        }
        let (root, base) = match directory {
            _ if slashes > 0 => (Some("/"), &[][..]),
            Some(own) => (Some(&*own.root), &own.names[..]),
            None => (None, &[][..]),
        };
        let start = root.map_or(Start::Below, |root| Start::Root(root.to_owned()));
        let names = self.names(base, &parts);
        readings.push(Reading { start, names });
    }

    /// Possible meanings of the beginning of a path, beside the root or the session's directory.
    fn starts<'p>(
        &self,
        parts: &[&'p str],
        slashes: usize,
        directory: Option<&Directory>,
    ) -> Vec<(Start, Vec<&'p str>)> {
        let windows = directory.map(Directory::is_windows);
        let (first, behind) = (parts[0], parts[1..].to_vec());
        let linked = || {
            let names = self.names(&[], parts);
            names.first().is_some_and(|name| is_linked(&name.folded))
        };
        let somewhere = (Start::Somewhere, behind.clone());
        match (slashes, drive(first)) {
            (1, _) if linked() => {
                let opened = opened(parts).map(|behind| (Start::Below, behind.to_vec()));
                [somewhere].into_iter().chain(opened).collect()
            }
            // On Windows the root of some drive.
            (1, _) if windows != Some(true) => Vec::new(),
            // Each drive has its own working directory, in which this begins.
            (0, Some((_, name))) if !name.is_empty() || behind.is_empty() => {
                vec![(Start::Below, [&[name], &*behind].concat())]
            }
            (0, Some((drive, _))) if windows != Some(false) => vec![(Start::Root(drive), behind)],
            // Expanded by shells: `~`, `$HOME`, `%USERPROFILE%`.
            (0, None) if first.starts_with('~') || HOMES.contains(&first) => {
                vec![(Start::Home, behind)]
            }
            (0, None) if first.starts_with(['$', '%']) => vec![(Start::Variable, behind)],
            // It begins with a name, other than `file:`, `vscode-remote:`.
            (0, None) if !first.ends_with(':') => Vec::new(),
            // Two slashes begin a share, and POSIX leaves them to each system.
            _ => vec![somewhere],
        }
    }

    /// The remaining names, after resolving `.` and `..`.
    fn names(&self, base: &[Name], parts: &[&str]) -> Vec<Name> {
        let mut names: Vec<_> = base.iter().map(|name| &*name.given).collect();
        for part in parts {
            let dots = part.trim_matches([' ', '.']).is_empty();
            match (*part, self) {
                ("" | ".", _) => {}
                ("..", _) => drop(names.pop()),
                (_, Self::Loose { dots_lead_up }) if dots => {
                    if *dots_lead_up {
                        names.pop();
                    }
                }
                (name, _) => names.push(name),
            }
        }
        names.into_iter().map(Name::of).collect()
    }
}

/// The path below a directory that a process has open, or works in.
fn opened<'a, 'p>(parts: &'a [&'p str]) -> Option<&'a [&'p str]> {
    (0..parts.len()).find_map(|at| match parts[at] {
        "cwd" => parts.get(at + 1..),
        "fd" => parts.get(at + 2..),
        _ => None,
    })
}
