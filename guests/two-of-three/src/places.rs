//! The places that a call names: private ones, and those outside of the project.

use std::collections::BTreeSet;

use acp_chain_calls::call::Call;
use acp_chain_calls::command::Commands;
use acp_chain_calls::directory::Directory;
use acp_chain_calls::glob::Glob;
use acp_chain_calls::mention::{MOST_MENTIONS, is_named, mentions, named_in_code};
use acp_chain_calls::title::LogTitle;
use acp_chain_calls::uri;
use acp_chain_proxy::path;

use crate::judge::{Effects, Judge, holds, key, meets};
use crate::label::Label;

/// Folders in which some systems look up the machine that the next name of a path names: those of autofs and AFS,
/// in the root.
const MOUNTED: &[&str] = &["afs/", "net/"];

/// In how many directories relative paths of a call are looked for, beside that of the session.
const MOST_BASES: usize = 32;

impl Judge {
    pub(crate) fn add_places(
        &self,
        call: &Call,
        commands: Option<&Commands>,
        directory: Option<&Directory>,
        effects: &mut Effects,
    ) {
        let bases = bases(call, commands, directory);
        let is_private = |path: &str| self.is_private(path, &bases, directory);
        if let Some(path) = call.paths.iter().find(|path| is_private(path)) {
            effects.bring_private(path);
        }
        let reads = reads(call);
        // What is written, or noted, names nothing that is read.
        let is_declared = !call.paths.is_empty() || !changes(call);
        if !reads && commands.is_none() && is_declared {
            return;
        }
        let mentioned = mentions(call, commands);
        let parts = named_in_code(call, commands);
        let words = || mentioned.iter().take(MOST_MENTIONS);
        let is_word = |word: &str| {
            let globs = self.private.iter().filter(|glob| glob.is_meant_by(word));
            meets_below(globs, word, &bases, directory)
        };
        let is_part = |part: &str| {
            let globs = self
                .private
                .iter()
                .filter(|glob| glob.is_spelt_out_by(part));
            meets_below(globs, part, &bases, directory)
        };
        let mut spelt = words().map(String::as_str).filter(|word| is_named(word));
        let named = spelt.find(|word| is_word(word));
        let mut parts_of_texts = parts.iter().copied().take(MOST_MENTIONS);
        if let Some(path) = named.or_else(|| parts_of_texts.find(|part| is_part(part))) {
            effects.bring_private(path);
        }
        let has_more = mentioned.len().max(parts.len()) > MOST_MENTIONS;
        if has_more || bases.len() > MOST_BASES {
            let source = format!("{}, which has too many words", effects.title);
            effects.brings.add(&[Label::A, Label::B], &source);
        }
        if !reads {
            return;
        }
        let paths = || call.paths.iter().chain(words());
        effects
            .reads
            .extend(paths().map(|path| key(path, directory)));
        for base in &bases {
            effects
                .reads
                .extend(paths().map(|path| key(path, Some(base))));
        }
        let address = call.paths.iter().find(|path| uri::is_on_network(path));
        if let Some(path) = address.or_else(|| paths().find(|path| is_share(path, directory))) {
            let source = format!("{}, on the network", LogTitle(Some(path)));
            effects.brings.add(&[Label::A, Label::C], &source);
        }
        let declared = call.paths.iter().find(|path| !holds(directory, path));
        let outside = declared.or_else(|| words().find(|word| is_outside(word, directory)));
        let outside = outside.map(String::as_str);
        if let Some(path) = outside.or_else(|| upwards(call, commands, directory)) {
            let source = format!("{}, outside of the project", LogTitle(Some(path)));
            effects.brings.add(&[Label::A], &source);
        }
    }

    /// Whether a path may be that of a private place, from the directory of the session or from one of these.
    pub(crate) fn is_private(
        &self,
        path: &str,
        bases: &[Directory],
        directory: Option<&Directory>,
    ) -> bool {
        meets_below(self.private.iter(), path, bases, directory)
    }
}

impl Effects {
    fn bring_private(&mut self, path: &str) {
        let source = format!("the private place {}", LogTitle(Some(path)));
        self.brings.add(&[Label::B], &source);
    }
}

/// Where relative paths of a call may begin, beside the session's directory; one more than the limit if there are more.
pub(crate) fn bases(
    call: &Call,
    commands: Option<&Commands>,
    directory: Option<&Directory>,
) -> Vec<Directory> {
    let Some(own) = directory else {
        return Vec::new();
    };
    let home = path::normal(&own.join(""));
    let given = call.input.directories.iter();
    let mut paths: BTreeSet<_> = given.map(|given| path::normal(&own.join(given))).collect();
    for to in commands.into_iter().flat_map(Commands::moves).flatten() {
        let from = [&home].into_iter().chain(&paths);
        let bases = from.filter_map(|path| Directory::of(path));
        let below: Vec<_> = bases.map(|base| path::normal(&base.join(to))).collect();
        paths.extend(below);
        if paths.len() > MOST_BASES + 1 {
            break;
        }
    }
    paths.remove(&home);
    let bases = paths.iter().filter_map(|path| Directory::of(path));
    bases.take(MOST_BASES + 1).collect()
}

/// Whether a path names another machine, which is looked up and connected to, whatever the program.
fn is_share(path: &str, directory: Option<&Directory>) -> bool {
    if directory.is_some_and(Directory::is_windows) {
        let slashes = path.len() - path.trim_start_matches(['/', '\\']).len();
        return slashes > 1;
    }
    let normal = path::normal(path).to_ascii_lowercase();
    let names = normal.trim_start_matches('/');
    let mut mounted = MOUNTED.iter();
    normal.starts_with('/') && mounted.any(|folder| names.starts_with(folder))
}

/// Whether a call may read what it names. `view` is what editors of several tools in one are told, which declare an
/// edit.
fn reads(call: &Call) -> bool {
    let mut kinds = call.all_kinds().peekable();
    let reads_nothing =
        |kind: &str| matches!(kind, "edit" | "delete" | "move" | "switch_mode" | "think");
    kinds.peek().is_none()
        || kinds.any(|kind| !reads_nothing(kind))
        || (changes(call) && call.input.texts.contains("view"))
}

fn changes(call: &Call) -> bool {
    let mut kinds = call.all_kinds();
    kinds.any(|kind| matches!(kind, "edit" | "delete" | "move"))
}

/// As [`meets`], from any of these directories.
fn meets_below<'g>(
    globs: impl Iterator<Item = &'g Glob> + Clone,
    path: &str,
    bases: &[Directory],
    directory: Option<&Directory>,
) -> bool {
    let mut below = bases.iter().map(|base| base.join(path));
    meets(globs.clone(), path, directory)
        || below.any(|path| meets(globs.clone(), &path, directory))
}

/// Whether a word is a path that leads out of the project, or an address.
pub(crate) fn is_outside(word: &str, directory: Option<&Directory>) -> bool {
    let is_harmless = matches!(word, "/dev/null" | "/dev/stdout" | "/dev/stderr");
    word.contains("://") || (leads_out(word) && !is_harmless && !holds(directory, word))
}

fn leads_out(word: &str) -> bool {
    path::is_absolute(word)
        || word.starts_with(['~', '\\'])
        || word.split(['/', '\\']).any(|name| name == "..")
}

/// A path that leads out of the project by dots and slashes only (`grep -r key ..`): a mention has letters.
fn upwards<'c>(
    call: &'c Call,
    commands: Option<&'c Commands>,
    directory: Option<&Directory>,
) -> Option<&'c str> {
    let words = commands.into_iter().flat_map(|commands| &commands.words);
    let texts = call.input.texts.iter().filter(|_| call.only_reads());
    let paths = words
        .chain(texts)
        .map(|word| word.rsplit('=').next().unwrap_or(word));
    let mut paths = paths.filter(|path| !path.is_empty());
    let is_up = |path: &str| path.chars().all(|c| "./\\~".contains(c)) && leads_out(path);
    paths.find(|path| is_up(path) && !holds(directory, path))
}
