//! The decision, made slowly and plainly: by trying all that a path may mean, one after the other. It
//! shares no code with the crate, and folds names with other libraries.

use std::collections::BTreeSet;

use caseless::default_case_fold_str;
use unicode_normalization::UnicodeNormalization;

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub decision: &'static str,
    pub kinds: Option<Vec<&'static str>>,
    pub titles: Option<Vec<&'static str>>,
    pub globs: Option<Vec<&'static str>>,
}

/// What was said of a call, or of several parts of it together.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub titles: BTreeSet<String>,
    pub kinds: BTreeSet<String>,
    pub shown: BTreeSet<&'static str>,
    pub paths: BTreeSet<String>,
    pub unclear: bool,
}

impl Said {
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

/// What the first rule that matches decides.
pub fn decide(rules: &[Rule], call: &Said, cwd: Option<&str>) -> &'static str {
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

// Allowing.

fn allows(rule: &Rule, call: &Said, cwd: Option<&str>) -> bool {
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
    if rule.globs.is_some() && call.paths.is_empty() {
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
                    let Some(glob) = Glob::parse(&glob, directory(cwd).as_ref()) else {
                        return false;
                    };
                    // As a `**` at the end is for one name at least.
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

#[derive(Clone, Debug)]
struct Path {
    root: String,
    names: Vec<String>,
}

/// The directory of the session, if it is clear which one that is.
fn directory(cwd: Option<&str>) -> Option<Path> {
    let cwd = cwd?;
    let path = absolute(cwd)?;
    (!cwd.chars().any(char::is_control)).then_some(path)
}

fn absolute(path: &str) -> Option<Path> {
    let chars: Vec<char> = path.chars().collect();
    let (root, rest, separators) = match chars[..] {
        ['/', ref rest @ ..] => ("/".to_owned(), rest, "/"),
        [letter, ':', '/' | '\\', ref rest @ ..] if letter.is_ascii_alphabetic() => {
            (format!("{}:", letter.to_ascii_uppercase()), rest, "/\\")
        }
        _ => return None,
    };
    if rest.first().is_some_and(|c| "/\\".contains(*c)) {
        return None;
    }
    let rest: String = rest.iter().collect();
    let names = rest.split(|c| separators.contains(c)).map(str::to_owned);
    let names: Vec<_> = names.filter(|name| name != "" && name != ".").collect();
    (!names.iter().any(|name| name == "..")).then_some(Path { root, names })
}

/// A path that can mean one thing only.
fn certain(path: &str, cwd: Option<&str>) -> Option<Path> {
    let path = absolute(path)?;
    let own = directory(cwd);
    if let Some(own) = &own
        && (own.root == "/") != (path.root == "/")
    {
        return None;
    }
    let own = own.filter(|own| own.root == path.root && path.names.starts_with(&own.names));
    let own = own.map_or(0, |own| own.names.len());
    let windows = path.root != "/";
    let first = path.names.first().map_or("", String::as_str);
    if own == 0 && !windows && (first == "proc" || first == "dev") {
        return None;
    }
    let unambiguous = |name: &String| {
        let folded = same(name);
        let base = folded.split('.').next().unwrap().trim_end();
        let device = match base.len() {
            4 => {
                (base.starts_with("com") || base.starts_with("lpt"))
                    && base.ends_with(|c: char| c.is_ascii_digit())
            }
            _ => ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&base),
        };
        [name, &folded].iter().all(|name| {
            let bad = |c: char| {
                "/\\:*?\u{fffd}".contains(c)
                    || c.is_control()
                    || unseen(c)
                    || (c != ' ' && c.is_whitespace())
            };
            !name.is_empty()
                && !name.contains(bad)
                && !name.ends_with('.')
                && !name.ends_with(' ')
                && alias(name).is_none()
        }) && !(windows && device)
    };
    path.names[own..].iter().all(unambiguous).then_some(path)
}

/// For each name whether it is protected.
fn guarded(path: &Path, cwd: Option<&str>) -> Vec<bool> {
    let own =
        directory(cwd).filter(|own| own.root == path.root && path.names.starts_with(&own.names));
    let own = own.map_or(0, |own| own.names.len());
    let names: Vec<String> = path.names.iter().map(|name| same(name)).collect();
    let mut guarded = vec![false; names.len()];
    for at in own..names.len() {
        let name = &*names[at];
        let above = |directory: &str| names[..at].iter().any(|name| name == directory);
        guarded[at] = name.starts_with('.')
            || (at == 0 && name == "etc")
            || ["acp-chain.toml", "acp-chain.lock", "mcp.json", "appdata"].contains(&name)
            || name.ends_with(".wasm")
            || (above(".git") && ["hooks", "config", "config.worktree"].contains(&name))
            || (above("acp-chain") && ["config.toml", "compiled"].contains(&name));
    }
    guarded
}

// Denying and asking.

fn meets(rule: &Rule, call: &Said, cwd: Option<&str>) -> bool {
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
            let glob = glob.expect("a glob for a rule that denies");
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

/// Whether a file system may take a name for one that a glob means.
fn may_be(segment: &str, name: &str) -> bool {
    let bare = |name: &str| {
        let folded = same(name);
        let file = folded
            .split(':')
            .next()
            .filter(|file| !file.is_empty())
            .unwrap_or(&folded);
        let file = file.trim_end_matches(['.', ' ']);
        if file.is_empty() {
            folded.clone()
        } else {
            file.to_owned()
        }
    };
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

/// All paths that this may mean, as far as they matter to the glob.
fn meanings(path: &str, cwd: Option<&str>, glob: &Glob) -> Vec<Path> {
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
        ['~' | '$' | '%', ..] => all.extend(below_any(&names, glob)),
        [.., ':'] => all.extend(anywhere(&names, glob, own)),
        _ => {}
    }
    all
}

/// The names that are left; `up` says whether dots with spaces lead up, or nowhere.
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
    let mut directories: Vec<Vec<String>> = vec![Vec::new()];
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    for segment in &glob.segments {
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

// Globs.

struct Glob {
    /// `/`, a drive, `share`, `any`, or `project` if its directory is not known.
    root: String,
    /// The same, with `project` also if it is.
    pattern_root: String,
    segments: Vec<String>,
}

impl Glob {
    fn parse(glob: &str, own: Option<&Path>) -> Option<Self> {
        let windows = glob.replace('\\', "/");
        let (root, rest) = if glob == "**" || glob.starts_with("**/") {
            ("any".to_owned(), glob)
        } else if let Some(rest) = glob.strip_prefix("./") {
            ("project".to_owned(), rest)
        } else if glob.starts_with("\\\\") {
            ("share".to_owned(), &*windows)
        } else if glob.starts_with('/') {
            ("/".to_owned(), glob)
        } else {
            (windows[..2].to_uppercase(), &windows[2..])
        };
        let segments = rest
            .split('/')
            .filter(|name| !name.is_empty() && *name != ".");
        let mut segments: Vec<_> = segments.map(str::to_owned).collect();
        let pattern_root = root.clone();
        let root = match (&*root, own) {
            ("project", Some(own)) => {
                segments = own.names.iter().cloned().chain(segments).collect();
                own.root.clone()
            }
            _ => root,
        };
        Some(Self {
            root,
            pattern_root,
            segments,
        })
    }
}

fn unfold_braces(glob: &str) -> Vec<String> {
    let Some(open) = glob.find('{') else {
        return vec![glob.to_owned()];
    };
    let close = open
        + glob[open..]
            .find('}')
            .expect("a brace that is closed, and none within");
    let choices = glob[open + 1..close].split(',');
    let unfold =
        |choice| unfold_braces(&format!("{}{choice}{}", &glob[..open], &glob[close + 1..]));
    choices.flat_map(unfold).collect()
}

fn has_wildcard(segment: &str) -> bool {
    segment.contains(['*', '?', '['])
}

/// A name that a segment with wildcards matches.
fn instance(segment: &str) -> String {
    let (before, rest) = segment.split_once('[').unwrap_or((segment, ""));
    let class = rest.chars().next().map_or(String::new(), |c| c.to_string());
    let behind = rest.split_once(']').map_or("", |(_, behind)| behind);
    format!("{before}{class}{behind}")
        .replace('*', "")
        .replace('?', "x")
}

/// `*`, `?` and, for names, `[a-z]`.
fn wild_or_class(pattern: &str, text: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('[') else {
        return wild(pattern, text);
    };
    let (class, behind) = rest.split_once(']').expect("a class that is closed");
    let bounds: Vec<char> = class.chars().collect();
    let [from, '-', to] = bounds[..] else {
        panic!("a range")
    };
    (from..=to).any(|c| wild(&format!("{before}{c}{behind}"), text))
}

fn wild(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    wild_from(&pattern, &text)
}

fn wild_from(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', behind)), _) => {
            wild_from(behind, text) || (!text.is_empty() && wild_from(pattern, &text[1..]))
        }
        (Some((c, behind)), Some((d, rest))) => (*c == '?' || c == d) && wild_from(behind, rest),
        _ => false,
    }
}

// Names.

/// Equal for names that some file system takes for the same.
pub fn same(name: &str) -> String {
    let mut name = name.to_owned();
    loop {
        let plain = |c: char| match u32::from(c) {
            code @ 0xf001..=0xf07f => char::from_u32(code - 0xf000).unwrap(),
            _ => c,
        };
        let seen: String = name.nfkd().filter(|c| !unseen(*c)).map(plain).collect();
        let next: String = default_case_fold_str(&seen.to_uppercase()).nfkc().collect();
        if next == name {
            return name;
        }
        name = next;
    }
}

/// Of the code points that are not seen, those that the test has.
fn unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}' | '\u{ad}')
}

/// The parts of a short name of Windows: what is before `~`, behind it, and behind the dot.
fn alias(name: &str) -> Option<(String, String, String)> {
    let mut parts = name.split('.');
    let (base, ending) = (parts.next()?, parts.next().unwrap_or_default());
    let (stem, number) = (&base[..base.rfind('~')?], &base[base.rfind('~')? + 1..]);
    let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    let short = base.chars().count() <= 8 && ending.chars().count() <= 3 && !stem.is_empty();
    (parts.next().is_none() && digits && short).then(|| (stem.into(), number.into(), ending.into()))
}

fn is_alias_of(name: &str, long: &str) -> bool {
    let Some((stem, _, ending)) = alias(name) else {
        return false;
    };
    if !long.is_ascii() {
        return true;
    }
    let long: String = long.chars().filter(|c| *c != ' ').collect();
    let long = long.trim_start_matches('.');
    let dot = long.rfind('.').unwrap_or(long.len());
    let base: String = long[..dot].chars().filter(|c| *c != '.').collect();
    let first_three: String = long[dot..].chars().skip(1).take(3).collect();
    let hashed = (0..=4).any(|kept| {
        let parts = stem
            .split_at_checked(kept)
            .filter(|(_, sum)| sum.len() == 4);
        parts.is_some_and(|(start, sum)| {
            base.starts_with(start) && sum.chars().all(|c| c.is_ascii_hexdigit())
        })
    });
    ending == first_three && (base.starts_with(&stem) || hashed)
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let code = rest
            .get(1..3)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        if let ('%', Some(code)) = (c, code) {
            bytes.push(code);
            rest = &rest[3..];
        } else {
            bytes.extend(c.to_string().bytes());
            rest = &rest[c.len_utf8()..];
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
