//! Finds the rows whose bodies contain a text. A file is read again for each search, in blocks: the system's cache
//! makes that fast enough.

use std::io;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr2_iter};

use crate::log::{Log, Place, read_at};

/// How many rows are searched before others may lock the log.
const ROWS: usize = 4096;

/// How much of a file is read at once, in bytes. A longer line is read separately.
const BLOCK: u64 = 4 << 20;

/// A text to search for. Without capital letters, it matches regardless of case.
///
/// Bodies are searched as they are spelt. Only if a different spelling is possible, they are respelt first.
#[derive(Debug)]
pub struct Needle {
    /// The text as typed, and as spelt in JSON.
    spellings: Vec<Vec<u8>>,
    any_case: bool,
    /// Whether all of it is printable ASCII.
    is_plain: bool,
    /// Whether it has letters beyond ASCII that could be capitals.
    may_be_capital: bool,
    /// The beginning of `\u…`.
    escape: Finder<'static>,
}

impl Needle {
    /// Makes a needle of this text.
    pub fn new(text: &str) -> Self {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let mut spellings = vec![text.as_bytes().to_vec()];
        if escaped != text {
            spellings.push(escaped.as_bytes().to_vec());
        }
        let any_case = text == text.to_lowercase();
        let is_small = |c: char| !c.is_ascii() && c.to_uppercase().ne([c]);
        Self {
            spellings,
            any_case,
            is_plain: text.chars().all(|c| matches!(c, ' '..='~')),
            may_be_capital: any_case && text.chars().any(is_small),
            escape: Finder::new(b"\\u"),
        }
    }

    /// Whether a text contains it.
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.is_spelt_in(text) || self.may_hide_in(text) && self.is_spelt_in(&self.respelt(text))
    }

    fn is_spelt_in(&self, text: &[u8]) -> bool {
        self.spellings.iter().any(|needle| {
            if self.any_case {
                has_in_any_case(text, needle)
            } else {
                memmem::find(text, needle).is_some()
            }
        })
    }

    /// Whether a text may contain it in another spelling: escaped, or in capitals beyond ASCII.
    fn may_hide_in(&self, text: &[u8]) -> bool {
        let mut escapes = self.escape.find_iter(text);
        // Most escapes are of control characters, such as those for colours.
        let spells = |at: usize| !self.is_plain || is_escape_of_printable(text, at);
        self.may_be_capital && !text.is_ascii() || escapes.any(spells)
    }

    /// A text with escapes only where `serde_json` writes them, and without capitals if their case does not matter.
    fn respelt(&self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(text);
        let text = without_escapes(&text);
        if self.any_case {
            text.to_lowercase().into_bytes()
        } else {
            text.into_bytes()
        }
    }
}

/// Whether the `\u…` here is for a printable character of ASCII.
fn is_escape_of_printable(text: &[u8], at: usize) -> bool {
    matches!(text.get(at + 2..at + 5), Some([b'0', b'0', b'2'..=b'7']))
}

/// JSON with the characters for which `\u…` stands, as `serde_json` spells them.
fn without_escapes(json: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = escapes(rest);
        if length > 0 {
            let quoted = format!("\"{}\"", &rest[..length]);
            // An unpaired surrogate is unchanged.
            let read = serde_json::from_str::<String>(&quoted);
            let spelt = read.and_then(|text| serde_json::to_string(&text));
            let spelt = spelt.unwrap_or(quoted);
            out.push_str(&spelt[1..spelt.len() - 1]);
            rest = &rest[length..];
        } else {
            // Another escape has two characters.
            let mut chars = rest.chars();
            out.extend(chars.by_ref().take(2));
            rest = chars.as_str();
        }
    }
    out + rest
}

/// The length of the row of `\u…` with which a text begins.
fn escapes(text: &str) -> usize {
    let (parts, _) = text.as_bytes().as_chunks::<6>();
    let is_one =
        |part: &&[u8; 6]| part.starts_with(b"\\u") && part[2..].iter().all(u8::is_ascii_hexdigit);
    parts.iter().take_while(is_one).count() * 6
}

/// Bytes that are rare in JSON of natural language, rarest first: a needle is found by one of these.
const SELDOM: &[u8] = b"~^`#@$%&|<>qzxjkv!?=*+QZXJKVWYUBFG9876543210/ybwgfhpumcdlsnirtaoe";

fn has_in_any_case(text: &[u8], needle: &[u8]) -> bool {
    let rank = |byte: &u8| SELDOM.iter().position(|seldom| seldom == byte);
    let best = (0..needle.len()).min_by_key(|at| rank(&needle[*at]).unwrap_or(SELDOM.len()));
    let Some(at) = best else { return true };
    let byte = needle[at];
    let (low, high) = (byte.to_ascii_lowercase(), byte.to_ascii_uppercase());
    memchr2_iter(low, high, text).any(|found| {
        let begin = found.checked_sub(at);
        let candidate = begin.and_then(|begin| text.get(begin..begin + needle.len()));
        candidate.is_some_and(|candidate| candidate.eq_ignore_ascii_case(needle))
    })
}

/// Finds the rows from this one on whose bodies contain the text, until the receiver is closed.
///
/// # Errors
/// If a file can no longer be read.
pub fn search(
    log: &Log,
    needle: &Needle,
    from: u64,
    is_wanted: impl Fn() -> bool,
) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    let mut next = from;
    let mut block = Vec::new();
    while is_wanted() {
        let (first, places) = log.places(next, ROWS);
        if places.is_empty() {
            break;
        }
        next = first + places.len() as u64;
        let mut at = 0;
        while at < places.len() {
            let count = together(&places[at..]);
            let some = &places[at..at + count];
            let begin = match some[0].span() {
                Some((file, first)) => {
                    let end = some[count - 1]
                        .span()
                        .map_or(first.end, |(_, last)| last.end);
                    let len = usize::try_from(end - first.start).map_err(io::Error::other)?;
                    block.resize(len, 0);
                    read_at(file, first.start, &mut block).map(|()| Some(first.start))
                }
                None => Ok(None),
            };
            // Lines that were dropped have no matches.
            if let Ok(begin) = begin {
                for (place, row) in some.iter().zip(first + at as u64..) {
                    let is_in = match (begin, place.span()) {
                        (Some(begin), Some((_, span))) => {
                            let start = usize::try_from(span.start - begin).unwrap_or(usize::MAX);
                            needle.is_in(place.body(block.get(start..).unwrap_or_default()))
                        }
                        _ => needle.is_in(place.body(&place.read()?)),
                    };
                    if is_in {
                        found.extend(u32::try_from(row));
                    }
                }
            }
            at += count;
        }
    }
    Ok(found)
}

/// How many of these are adjacent in one file, within a block.
fn together(places: &[Place]) -> usize {
    let Some((file, first)) = places[0].span() else {
        return 1;
    };
    let mut last = first.start;
    let fits = |place: &&Place| {
        let fits = place.span().is_some_and(|(other, span)| {
            std::sync::Arc::ptr_eq(file, other)
                && span.start >= last
                && span.end - first.start <= BLOCK
        });
        last = place.span().map_or(last, |(_, span)| span.end);
        fits
    };
    places.iter().take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_found_even_if_json_escapes_it() {
        let has = |needle: &str, text: &str| Needle::new(needle).is_in(text.as_bytes());
        assert!(has("say \"hi\"", r#"{"text":"say \"hi\""}"#));
        assert!(has("\"text\":", r#"{"text":1}"#));
        assert!(has("akia", "xAKIAx") && has("AKIA", "xAKIAx") && !has("AKIA", "akia"));
        assert!(!has("b", "a") && has("", "a") && has("größe", "GRöße"));
    }

    #[test]
    fn a_text_is_found_in_every_spelling_and_case() {
        let has = |needle: &str, text: &str| Needle::new(needle).is_in(text.as_bytes());
        for body in [
            "über",
            "Über",
            r"\u00fcber",
            r"\u00DCber",
            r"a\n\u00fc\u0062er",
        ] {
            assert!(has("über", body), "{body}");
        }
        assert!(has("Über", r"\u00dcber") && !has("Über", "über") && !has("über", "uber"));
        assert!(has("😀", r"\ud83d\uDE00") && has("<b>", r"\u003cb\u003E"));
        assert!(has("say \"hi\"", r"say \u0022hi\u0022") && has("\u{1b}[31m", r"\u001B[31m"));
        // These are a backslash and letters, and an unpaired surrogate.
        assert!(!has("ü", r"\\u00fc") && !has("ü", r"\ud800x\u00f"));
        assert!(has("ü", r"\ud800\n\u00fc"));
    }

    proptest! {
        #[test]
        fn escapes_do_not_change_the_matches(text in "[xXöÖ\"\\\\\n😀 ]{0,9}", needle in "[xXöÖ\"\n😀 ]{1,2}") {
            let plain = serde_json::to_string(&text).unwrap();
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
            let escaped = units.collect::<Vec<_>>().concat();
            let needle = Needle::new(&needle);
            let plain = &plain[1..plain.len() - 1];
            prop_assert_eq!(needle.is_in(plain.as_bytes()), needle.is_in(escaped.as_bytes()));
        }

        #[test]
        fn matches_are_those_of_a_simple_search(text in "[aAbBq ]{0,30}", needle in "[abq ]{0,3}") {
            let slow = text.to_ascii_lowercase().contains(&needle);
            prop_assert_eq!(Needle::new(&needle).is_in(text.as_bytes()), slow);
        }
    }
}
