//! Names, and the wildcards for them.

use acp_chain_unicode::{nfkc, nfkd};
use caseless::default_case_fold_str;

pub fn has_wildcard(segment: &str) -> bool {
    segment.contains(['*', '?', '['])
}

/// `*`, `?` and, for names, `[a-z]`.
pub fn wild_or_class(pattern: &str, text: &str) -> bool {
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

pub fn wild(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    wild_from(&pattern, &text)
}

pub fn wild_from(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', behind)), _) => {
            wild_from(behind, text) || (!text.is_empty() && wild_from(pattern, &text[1..]))
        }
        (Some((c, behind)), Some((d, rest))) => (*c == '?' || c == d) && wild_from(behind, rest),
        _ => false,
    }
}

/// Equal for names that some file system considers equal.
pub fn same(name: &str) -> String {
    let mut name = name.to_owned();
    loop {
        let plain = |c: char| match u32::from(c) {
            code @ 0xf001..=0xf07f => char::from_u32(code - 0xf000).unwrap(),
            _ => c,
        };
        let decomposed = nfkd(&name);
        let seen: String = decomposed
            .chars()
            .filter(|c| !unseen(*c))
            .map(plain)
            .collect();
        let folded = default_case_fold_str(&seen.to_uppercase());
        let next = nfkc(&folded);
        if next == name {
            return name;
        }
        name = next;
    }
}

/// The invisible code points in the test.
pub fn unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}' | '\u{ad}')
}

/// The parts of a Windows short name: before the `~`, after it, and after the dot.
pub fn alias(name: &str) -> Option<(String, String, String)> {
    let mut parts = name.split('.');
    let (base, ending) = (parts.next()?, parts.next().unwrap_or_default());
    let (stem, number) = (&base[..base.rfind('~')?], &base[base.rfind('~')? + 1..]);
    let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    let short = base.chars().count() <= 8 && ending.chars().count() <= 3 && !stem.is_empty();
    (parts.next().is_none() && digits && short).then(|| (stem.into(), number.into(), ending.into()))
}

pub fn is_alias_of(name: &str, long: &str) -> bool {
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

pub fn percent_decoded(text: &str) -> String {
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

/// A name without the trailing characters that Windows ignores.
pub fn bare(name: &str) -> String {
    let folded = same(name);
    let file = folded.split(':').next().unwrap_or_default();
    let file = if file.is_empty() { &folded } else { file };
    match file.trim_end_matches(['.', ' ']) {
        "" => folded.clone(),
        bare => bare.to_owned(),
    }
}
