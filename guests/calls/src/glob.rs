//! Globs, matched name by name, to distinguish names that a rule spells out from those that its wildcards match.

use crate::directory::{Directory, is_linked};
use crate::name::Name;
use crate::pattern::{Pattern, choices};
use crate::place::ExactPath;
use crate::reading::{Reading, Start};

/// A glob without braces.
pub struct Glob {
    root: Root,
    segments: Vec<Segment>,
}

#[derive(PartialEq)]
enum Root {
    Slash,
    Drive(String),
    /// The session's directory.
    Project,
    /// `**`
    Anywhere,
    /// `\\`, of Windows.
    Share,
}

enum Segment {
    /// `**`
    Any,
    Name(Name),
    Pattern(Pattern),
}

impl Glob {
    /// The globs that a pattern stands for, one for each choice among its braces.
    pub fn all(pattern: &str) -> Result<Vec<Self>, String> {
        let wrong = |why: &str| format!("`path` has `{pattern}`; {why}");
        if pattern.starts_with('!') {
            return Err(wrong(
                "write a rule that denies or asks before this one instead of a glob with `!`",
            ));
        }
        let choices = choices(pattern).map_err(wrong)?;
        let globs = choices.iter().map(|choice| Self::new(choice));
        globs.collect::<Result<_, _>>().map_err(wrong)
    }

    fn new(pattern: &str) -> Result<Self, &'static str> {
        let (root, rest) = Root::of(pattern).ok_or(
            "begin it with `/` or a drive letter, with `./` for the session's directory, or with \
             `**/` for anywhere",
        )?;
        let segments = rest.split('/').filter(|part| !matches!(*part, "" | "."));
        let segments = segments.map(Segment::new).collect::<Result<_, _>>()?;
        Ok(Self { root, segments })
    }

    /// Whether no path is unambiguous enough for a rule that allows.
    pub fn is_share(&self) -> bool {
        self.root == Root::Share
    }

    /// Whether links lead from what it matches to anywhere, so that no rule allows that.
    pub fn is_linked(&self) -> bool {
        let is_link = |segment: &Segment| match segment {
            Segment::Name(name) => is_linked(&name.folded),
            Segment::Any | Segment::Pattern(_) => false,
        };
        self.root == Root::Slash && self.segments.first().is_some_and(is_link)
    }

    /// Whether it may be meant by a word that is perhaps no path: by one name, if its own last name is more than a
    /// wildcard; by several, if any of its names is.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let is_named = |segment: &Segment| match segment {
            Segment::Any => false,
            Segment::Name(_) => true,
            Segment::Pattern(pattern) => pattern.names_something(),
        };
        if word.contains(['/', '\\']) {
            self.segments.iter().any(is_named)
        } else {
            self.segments.last().is_some_and(is_named)
        }
    }

    /// As [`is_meant_by`](Self::is_meant_by), for a part of a script: there, `event.key` is no file that `*.key` means.
    pub fn is_spelt_out_by(&self, part: &str) -> bool {
        let begins_alike = match self.segments.last() {
            Some(Segment::Name(_)) => true,
            Some(Segment::Pattern(pattern)) => pattern.begins_with_text(),
            Some(Segment::Any) | None => false,
        };
        self.is_meant_by(part) && (begins_alike || part.contains(['/', '\\']))
    }

    /// Whether a rule that allows matches this place. Wildcards match protected names only `freely`.
    pub fn allows(&self, place: &ExactPath, directory: Option<&Directory>, freely: bool) -> bool {
        let start = match (&self.root, directory) {
            (Root::Slash, _) => (place.root == "/").then_some(0),
            (Root::Drive(drive), _) => (place.root == *drive).then_some(0),
            (Root::Anywhere, _) => Some(0),
            (Root::Project, Some(own)) => own.contains(&place.root, &place.names),
            (Root::Project, None) | (Root::Share, _) => None,
        };
        let reaches = |at: usize| freely || !place.protected[at];
        let fits = |segment: &Segment, at: usize| match segment {
            Segment::Any => reaches(at),
            Segment::Name(name) => name.given == place.names[at],
            Segment::Pattern(pattern) => reaches(at) && pattern.matches(&place.names[at]),
        };
        // `./**` is everything in the directory, but not the directory itself: deleting or replacing that would
        // affect names that no rule spells out.
        let least = usize::from(matches!(self.segments.last(), Some(Segment::Any)));
        let count = place.names.len();
        start.is_some_and(|start| lead(&self.segments, count, start..=start, least, fits))
    }

    /// Whether a rule that denies or asks matches a possible meaning of a path. What a variable names is taken for a
    /// home directory.
    pub fn meets(&self, reading: &Reading, directory: Option<&Directory>) -> bool {
        self.meets_by(Segment::meets, false, reading, directory)
    }

    /// Whether it may match what a shell makes of wildcards in a path. A name of wildcards only stands for the contents
    /// of a directory, which are not judged.
    pub fn may_meet(&self, reading: &Reading, directory: Option<&Directory>) -> bool {
        self.meets_by(Segment::may_meet, true, reading, directory)
    }

    /// `expands` says whether a variable may name any directory.
    fn meets_by(
        &self,
        meets: fn(&Segment, &Name) -> bool,
        expands: bool,
        reading: &Reading,
        directory: Option<&Directory>,
    ) -> bool {
        let names = &reading.names;
        let count = names.len();
        let run = |segments: &[Segment], starts| {
            let fits = |segment: &Segment, at: usize| meets(segment, &names[at]);
            lead(segments, count, starts, 0, fits)
        };
        let from = |start| run(&self.segments, start..=start);
        let from_any = || run(&self.segments, 0..=count.saturating_sub(1));
        let own = directory.filter(|_| self.root == Root::Project);
        match &reading.start {
            // The session's directory may be any directory.
            _ if self.root == Root::Project && own.is_none() && from_any() => true,
            // Unknown names before these may match the first ones of the glob.
            start @ (Start::Below | Start::Home | Start::Variable) => {
                let is_any = match start {
                    Start::Below => true,
                    Start::Variable => expands,
                    _ => false,
                };
                let ends = 0..=self.segments.len();
                let mut ends = ends.filter(|end| is_any || self.may_lead_home(*end));
                let own = own.map_or(&[][..], |own| &own.names);
                let mut own_ends = (1..=own.len().min(count)).filter(|end| {
                    let own = &own[own.len() - end..];
                    own.iter().zip(names).all(|(own, name)| own.may_be(name))
                });
                own_ends.any(from) || ends.any(|end| run(&self.segments[end..], 0..=0))
            }
            Start::Somewhere => from_any(),
            Start::Root(root) => match (&self.root, own) {
                (Root::Slash, _) => from(0),
                (Root::Drive(drive), _) => root == drive && from(0),
                (Root::Project, Some(own)) => {
                    let inside = *root == own.root
                        && count >= own.names.len()
                        && own
                            .names
                            .iter()
                            .zip(names)
                            .all(|(own, name)| own.may_be(name));
                    inside && from(own.names.len())
                }
                (Root::Anywhere, _) => from_any(),
                (Root::Project, None) | (Root::Share, _) => false,
            },
        }
    }

    /// Whether so many of its first segments may lead to a home directory. It is none that they name behind a `**`, hide,
    /// or have in the session's directory: `~/a` is not in `**/.ssh/**`.
    fn may_lead_home(&self, end: usize) -> bool {
        let segments = &self.segments[..end];
        let is_any = |segment: &Segment| matches!(segment, Segment::Any);
        let mut behind = segments.iter().skip_while(|segment| !is_any(segment));
        let is_system = |segment: &Segment| match segment {
            Segment::Name(name) => SYSTEM.contains(&&*name.folded),
            Segment::Any | Segment::Pattern(_) => false,
        };
        end == 0
            || (self.root != Root::Project
                && behind.all(is_any)
                && !segments.iter().any(Segment::is_hidden)
                && !segments.first().is_some_and(is_system))
    }
}

/// Directories in a root that have no homes.
const SYSTEM: &[&str] = &[
    "bin", "boot", "dev", "etc", "lib", "proc", "sbin", "sys", "windows",
];

impl Root {
    /// The root of a glob, and the rest.
    fn of(pattern: &str) -> Option<(Self, String)> {
        if pattern == "." {
            return Some((Self::Project, String::new()));
        }
        if let Some(rest) = pattern.strip_prefix("./") {
            return Some((Self::Project, rest.to_owned()));
        }
        if pattern == "**" || pattern.starts_with("**/") {
            return Some((Self::Anywhere, pattern.to_owned()));
        }
        let slashes = || pattern.replace('\\', "/");
        if pattern.starts_with(r"\\") {
            return Some((Self::Share, slashes()));
        }
        if let Some(rest) = pattern.strip_prefix('/') {
            let one = !rest.starts_with('/');
            return one.then(|| (Self::Slash, rest.to_owned()));
        }
        let bytes = pattern.as_bytes();
        let is_drive =
            matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
        let drive = || Self::Drive(pattern[..2].to_ascii_uppercase());
        is_drive.then(|| (drive(), slashes()[2..].to_owned()))
    }
}

impl Segment {
    fn new(text: &str) -> Result<Self, &'static str> {
        if text == "**" {
            return Ok(Self::Any);
        }
        if text == ".." {
            return Err("write it without `..`");
        }
        if text.contains("**") {
            return Err("`**` has to stand alone between slashes");
        }
        let pattern = Pattern::new(text)?;
        Ok(match pattern.literal() {
            Some(name) => Self::Name(Name::of(&name)),
            None => Self::Pattern(pattern),
        })
    }

    /// Whether what it matches begins with a dot.
    fn is_hidden(&self) -> bool {
        match self {
            Self::Any => false,
            Self::Name(name) => name.given.starts_with('.'),
            Self::Pattern(pattern) => pattern.begins_with('.'),
        }
    }

    fn meets(&self, name: &Name) -> bool {
        match self {
            Self::Any => true,
            Self::Name(own) => own.may_be(name),
            Self::Pattern(pattern) => pattern.meets(name),
        }
    }

    fn may_meet(&self, name: &Name) -> bool {
        let may_expand = |shell: &Pattern| match self {
            Self::Any => true,
            Self::Name(own) => shell.matches_folded(&own.given),
            Self::Pattern(own) => own.may_share(shell),
        };
        let is_wild = |shell: &Pattern| shell.literal().is_none() && shell.names_something();
        let shell = Pattern::new(&name.given);
        self.meets(name) || shell.is_ok_and(|shell| is_wild(&shell) && may_expand(&shell))
    }
}

/// Whether the segments match all names from one of these starts. A final `**` matches at least `least` names.
fn lead(
    segments: &[Segment],
    count: usize,
    starts: std::ops::RangeInclusive<usize>,
    least: usize,
    fits: impl Fn(&Segment, usize) -> bool,
) -> bool {
    // For each number of names: whether the segments so far can match them.
    let mut reached: Vec<bool> = (0..=count).map(|at| starts.contains(&at)).collect();
    for (number, segment) in segments.iter().enumerate() {
        let any = matches!(segment, Segment::Any);
        if any && number + 1 == segments.len() && least > 0 {
            reached[count] = false;
        }
        let mut next = vec![false; count + 1];
        for at in 0..=count {
            let on = reached[at] || (any && next[at]);
            if any {
                next[at] = on;
            }
            if on && at < count && fits(segment, at) {
                next[at + 1] = true;
            }
        }
        if !next.contains(&true) {
            return false;
        }
        reached = next;
    }
    reached[count]
}
