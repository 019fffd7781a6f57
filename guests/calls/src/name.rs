//! One name of a path, and its possible meanings for file systems.

use crate::fold::{fold, is_ignorable};

/// A name, in the forms that denying and asking rules match.
#[derive(Clone, Debug)]
pub struct Name {
    pub given: String,
    pub folded: String,
    /// Folded, without parts that Windows ignores: a stream (`.git::$INDEX_ALLOCATION`), and trailing dots and
    /// spaces.
    pub bare: String,
}

impl Name {
    pub fn of(given: &str) -> Self {
        let folded = fold(given);
        let bare = match folded.split_once(':') {
            Some((file, _)) if !file.is_empty() => file,
            _ => &folded,
        };
        let bare = bare.trim_end_matches([' ', '.']).to_owned();
        Self {
            given: given.to_owned(),
            bare: if bare.is_empty() {
                folded.clone()
            } else {
                bare
            },
            folded,
        }
    }

    /// Whether some file system considers the two equal.
    pub fn may_be(&self, other: &Self) -> bool {
        self.bare == other.bare
            || self.may_be_short_for(&other.bare)
            || other.may_be_short_for(&self.bare)
    }

    /// Whether this may be the short name (8.3) of a file with that long name.
    fn may_be_short_for(&self, long: &str) -> bool {
        let Some((stem, ending)) = short(&self.bare) else {
            return false;
        };
        if !long.is_ascii() {
            return true;
        }
        let long = long.trim_start_matches(['.', ' ']).replace(' ', "");
        let (long, long_ending) = long.rsplit_once('.').unwrap_or((&long, ""));
        let long: String = long.chars().filter(|c| *c != '.').map(replaced).collect();
        let same_ending = long_ending.chars().map(replaced).take(3).eq(ending.chars());
        // From the fifth similar name on, the stem ends with four digits of a checksum.
        let end = stem.len().checked_sub(4);
        let start = end.and_then(|end| stem.split_at_checked(end));
        let hashed = start.is_some_and(|(start, sum)| {
            long.starts_with(start) && sum.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        same_ending && (long.starts_with(stem) || hashed)
    }

    /// Whether this may be the short name of a file whose long name has this beginning and this end, both folded. A
    /// short name keeps the first two characters of the long one, and three of those behind its last dot.
    pub fn may_be_short_of(&self, beginning: &str, end: &str) -> bool {
        let Some((stem, ending)) = short(&self.bare) else {
            return false;
        };
        let long = beginning.trim_start_matches(['.', ' ']).chars();
        let first = long.take_while(|c| *c != '.').filter(|c| *c != ' ').take(2);
        let begins = first.map(replaced).zip(stem.chars()).all(|(a, b)| a == b);
        let long_ending = end.rsplit_once('.').map_or("", |(_, ending)| ending);
        let ends = long_ending.is_empty()
            || long_ending.contains(' ')
            || long_ending.chars().map(replaced).take(3).eq(ending.chars());
        !beginning.is_ascii() || !end.is_ascii() || (begins && ends)
    }
}

/// Replaces a character that is invalid in a short name.
fn replaced(c: char) -> char {
    if "+,;=[]".contains(c) { '_' } else { c }
}

/// The parts of a short name: `progra` and `txt` of `progra~1.txt`.
fn short(name: &str) -> Option<(&str, &str)> {
    let (base, ending) = name.split_once('.').unwrap_or((name, ""));
    let (stem, number) = base.rsplit_once('~')?;
    let numbered = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let fits = !stem.is_empty() && base.chars().count() <= 8 && ending.chars().count() <= 3;
    (numbered && fits && !ending.contains('.')).then_some((stem, ending))
}

/// Whether a name is the same for every file system, up to [`fold`].
pub fn is_plain(name: &str, on_windows: bool) -> bool {
    let folded = fold(name);
    [name, &folded].into_iter().all(|name| {
        !name.is_empty()
            && !name.ends_with([' ', '.'])
            && !name.chars().any(is_odd)
            && short(name).is_none()
    }) && !(on_windows && is_device(&folded))
}

/// Characters that some system treats as separators, ignores, or expands.
fn is_odd(c: char) -> bool {
    matches!(
        c,
        '/' | '\\' | ':' | '*' | '?' | char::REPLACEMENT_CHARACTER
    ) || c.is_control()
        || (c.is_whitespace() && c != ' ')
        || is_ignorable(c)
}

/// Names that are devices in every directory on Windows.
fn is_device(folded: &str) -> bool {
    let base = folded.split('.').next().unwrap_or_default().trim_end();
    let numbered = base.strip_prefix("com").or(base.strip_prefix("lpt"));
    ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&base)
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
}
