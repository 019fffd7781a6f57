//! The decision, made slowly and simply, by trying all possible meanings of a path one by one. It shares no code with
//! the crate, and folds names with other libraries.

mod globs;
mod meanings;
mod names;
mod paths;

use std::collections::BTreeSet;

use globs::{Glob, unfold_braces};
use meanings::meanings;
use names::{alias, bare, has_wildcard, is_alias_of, same, unseen, wild, wild_or_class};
use paths::{certain, directory, guarded};

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub decision: &'static str,
    pub kinds: Option<Vec<&'static str>>,
    pub titles: Option<Vec<&'static str>>,
    pub globs: Option<Vec<&'static str>>,
}

/// Everything stated about a call, or about several parts of it together.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub titles: BTreeSet<String>,
    pub kinds: BTreeSet<String>,
    pub shown: BTreeSet<&'static str>,
    pub paths: BTreeSet<String>,
    pub unclear: bool,
}

impl Facts {
    pub fn and(&mut self, more: Self) {
        self.titles.extend(more.titles);
        self.kinds.extend(more.kinds);
        self.shown.extend(more.shown);
        self.paths.extend(more.paths);
        self.unclear |= more.unclear;
    }

    fn all_kinds(&self) -> BTreeSet<String> {
        let shown = self.shown.iter().map(|kind| (*kind).to_owned());
        self.kinds.iter().cloned().chain(shown).collect()
    }
}

/// The decision of the first matching rule.
pub fn decide(rules: &[Rule], call: &Facts, cwd: Option<&str>) -> &'static str {
    let rule = rules.iter().find(|rule| match rule.decision {
        "allow" => allows(rule, call, cwd),
        _ => meets(rule, call, cwd),
    });
    match rule.map(|rule| rule.decision) {
        Some("allow") => "allow_once",
        Some("deny") => "reject_once",
        _ => "ask",
    }
}

const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

fn allows(rule: &Rule, call: &Facts, cwd: Option<&str>) -> bool {
    if call.unclear {
        return false;
    }
    if let Some(kinds) = &rule.kinds {
        if call.kinds.is_empty() {
            return false;
        }
        for kind in call.all_kinds() {
            if !kinds.contains(&&*kind) {
                return false;
            }
        }
    }
    if rule.kinds.is_none() && call.kinds.contains("switch_mode") {
        return false;
    }
    if let Some(titles) = &rule.titles {
        if call.titles.is_empty() {
            return false;
        }
        for title in &call.titles {
            let hidden = title
                .chars()
                .any(|c| c.is_control() || unseen(c) || "\u{2028}\u{2029}".contains(c));
            if hidden || !titles.iter().any(|pattern| wild(pattern, title)) {
                return false;
            }
        }
    }
    // A command may reach more than it names.
    let runs = call.kinds.iter().any(|kind| kind == "execute");
    if rule.globs.is_some() && (call.paths.is_empty() || runs) {
        return false;
    }
    let kinds = call.all_kinds();
    let reads =
        !call.kinds.is_empty() && kinds.iter().all(|kind| kind == "read" || kind == "search");
    call.paths.iter().all(|path| {
        let Some(path) = certain(path, cwd) else {
            return false;
        };
        let guarded = guarded(&path, cwd);
        match &rule.globs {
            None => reads || guarded.iter().all(|guarded| !guarded),
            Some(globs) => globs
                .iter()
                .flat_map(|glob| unfold_braces(glob))
                .any(|glob| {
                    let glob = Glob::parse(&glob, directory(cwd).as_ref());
                    // As a final `**` matches at least one name.
                    let mut segments = glob.segments;
                    if segments.last().is_some_and(|last| last == "**") {
                        segments.push("*".into());
                    }
                    let reached = |at: usize, literal: bool| literal || reads || !guarded[at];
                    (glob.root == "any" || glob.root == path.root)
                        && exactly(&segments, &path.names, 0, &reached)
                }),
        }
    })
}

fn exactly(
    segments: &[String],
    names: &[String],
    at: usize,
    reached: &dyn Fn(usize, bool) -> bool,
) -> bool {
    let Some((segment, behind)) = segments.split_first() else {
        return names.len() == at;
    };
    if segment == "**" {
        return exactly(behind, names, at, reached)
            || (at < names.len()
                && reached(at, false)
                && exactly(segments, names, at + 1, reached));
    }
    at < names.len()
        && reached(at, !has_wildcard(segment))
        && wild_or_class(segment, &names[at])
        && exactly(behind, names, at + 1, reached)
}

fn meets(rule: &Rule, call: &Facts, cwd: Option<&str>) -> bool {
    if let Some(kinds) = &rule.kinds {
        let mut known: BTreeSet<String> = call.all_kinds().iter().map(|kind| same(kind)).collect();
        if call.kinds.is_empty() || known.iter().any(|kind| !KINDS.contains(&&**kind)) {
            known.insert("other".into());
        }
        if !kinds.iter().any(|kind| known.contains(*kind)) {
            return false;
        }
    }
    if let Some(titles) = &rule.titles {
        let fits = |title: &String| {
            let mut patterns = titles.iter();
            patterns.any(|pattern| wild(pattern, title) || wild(&same(pattern), &same(title)))
        };
        if !call.titles.iter().any(fits) {
            return false;
        }
    }
    let Some(globs) = &rule.globs else {
        return true;
    };
    let own = directory(cwd);
    let globs = globs.iter().flat_map(|glob| unfold_braces(glob));
    globs.into_iter().any(|glob| {
        call.paths.iter().any(|path| {
            let glob = Glob::parse(&glob, own.as_ref());
            meanings(path, cwd, &glob).iter().any(|meaning| {
                // On Windows `/` is the root of some drive.
                let drive = glob.root == "/" && meaning.root.ends_with(':');
                (glob.root == "any" || glob.root == meaning.root || drive)
                    && loosely(&glob.segments, &meaning.names)
            })
        })
    })
}

fn loosely(segments: &[String], names: &[String]) -> bool {
    match (segments.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((segment, behind)), _) if segment == "**" => {
            loosely(behind, names) || (!names.is_empty() && loosely(segments, &names[1..]))
        }
        (Some((segment, behind)), Some((name, rest))) => {
            may_be(segment, name) && loosely(behind, rest)
        }
        _ => false,
    }
}

/// Whether a file system may consider a name equal to one that the glob matches.
fn may_be(segment: &str, name: &str) -> bool {
    let forms = [name.to_owned(), same(name), bare(name)];
    if has_wildcard(segment) {
        return forms
            .iter()
            .any(|form| wild_or_class(segment, form) || wild_or_class(&same(segment), form))
            || alias(&bare(name)).is_some();
    }
    let own = [segment.to_owned(), same(segment), bare(segment)];
    own.iter().any(|own| forms.contains(own))
        || is_alias_of(&bare(name), &bare(segment))
        || is_alias_of(&bare(segment), &bare(name))
}
