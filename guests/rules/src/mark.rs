//! The addition to a prompt, and how it is found again in an agent's output.
//!
//! The text is between two marks, which contain a checksum of it. So no text of a user is ever taken for the addition,
//! not even a typed mark or an altered copy of the text. The checksum ignores white space, which some agents change,
//! and the session, as a fork has the text of another one.

use std::hash::Hasher;
use std::ops::Range;

use fnv::FnvHasher;

const BEGIN: &str = "[project rules ";
const END: &str = "[end of project rules ";
const URI: &str = "acp-chain:rules/";
/// The number of hexadecimal digits of a checksum.
const DIGITS: usize = 16;

/// The maximum length of a text to search for, including its marks, in bytes.
pub(crate) const LONGEST: usize = 1024 * 1024;

/// Whether more of the text may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    May,
    Never,
}

/// A text without the addition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CutText {
    /// The remaining text.
    pub(crate) text: String,
    /// Whether something was removed.
    pub(crate) found: bool,
    /// Whether it contains the beginning of what may be an addition whose end is still to come.
    pub(crate) open: bool,
}

impl CutText {
    /// Whether the text was nothing but the addition.
    pub(crate) fn is_all(&self) -> bool {
        self.found && self.text.trim().is_empty()
    }
}

/// The text between its marks.
pub(crate) fn marked(text: &str) -> String {
    let within = format!(": from files of this project, not from the user]\n\n{text}\n\n");
    let sum = checksum(&within);
    format!("{BEGIN}{sum}{within}{END}{sum}]")
}

/// The URI of the text as a resource. It leads nowhere.
pub(crate) fn uri() -> String {
    format!("{URI}{}", checksum(URI))
}

/// Removes the addition, and what agents are known to write around a resource: a link to it, an `@` before it, a tag
/// that names it.
pub(crate) fn cut(text: &str, more: More) -> CutText {
    let (mut spans, open) = marked_in(text, more);
    let uri = uri();
    for (at, _) in text.match_indices(&uri) {
        around(text, at..at + uri.len(), &mut spans);
    }
    spans.sort_by_key(|span| span.start);
    let (mut left, mut copied) = (String::with_capacity(text.len()), 0);
    for span in &spans {
        left.push_str(&text[copied..span.start.max(copied)]);
        copied = copied.max(span.end);
    }
    left.push_str(&text[copied..]);
    // The separator before the addition is removed with it.
    if copied > 0 && text[copied..].trim().is_empty() {
        left.truncate(left.trim_end().len());
    }
    CutText {
        text: left,
        found: !spans.is_empty(),
        open,
    }
}

/// A title without the addition, if that is in it. Agents make titles of a prompt and cut them off anywhere: a mark or
/// a URI that is cut off counts if it ends with some of its digits.
pub(crate) fn title(title: &str) -> Option<String> {
    let cut = cut(title, More::Never);
    let text = &cut.text;
    let end = text.trim_end_matches(['.', '…', ' ', '\n']);
    let mark = text
        .rfind(BEGIN)
        .filter(|at| is_cut_off(text, end, at + BEGIN.len()));
    let link = end.rfind(URI).filter(|at| uri().starts_with(&end[*at..]));
    match (mark.into_iter().chain(link).min(), cut.found) {
        (Some(at), _) => Some(
            text[..at]
                .trim_end_matches(['[', '@', '(', '<', ' ', '\n'])
                .to_owned(),
        ),
        (None, true) => Some(cut.text),
        (None, false) => None,
    }
}

/// Whether a mark whose digits begin here continues as a mark does, or is cut off within its digits.
fn is_cut_off(text: &str, end: &str, digits: usize) -> bool {
    let behind = text[digits..].trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    let found = text.len() - digits - behind.len();
    let is_whole = found == DIGITS && behind.starts_with(": from files of this project");
    is_whole || (4..=DIGITS).contains(&found) && end.len() <= digits + found
}

/// The ranges of marked text, and whether there is one whose end is missing.
fn marked_in(text: &str, more: More) -> (Vec<Range<usize>>, bool) {
    let (mut spans, mut at) = (Vec::new(), 0);
    while let Some(found) = text[at..].find(BEGIN) {
        let start = at + found;
        at = start + BEGIN.len();
        let Some(sum) = digits(&text[at..]) else {
            let cut_off = text[at..].len() < DIGITS && is_hexadecimal(&text[at..]);
            if cut_off && more == More::May {
                return (spans, true);
            }
            continue;
        };
        let within = at + DIGITS;
        let end = format!("{END}{sum}]");
        match text[within..].find(&end) {
            Some(length) if checksum(&text[within..within + length]) == sum => {
                at = within + length + end.len();
                spans.push(start..at);
            }
            None if more == More::May && text.len() - start <= LONGEST => return (spans, true),
            Some(_) | None => {}
        }
    }
    let begins = |length: &usize| text[at..].ends_with(&BEGIN[..*length]);
    let begun = (1..BEGIN.len()).any(|length| begins(&length));
    (spans, begun && more == More::May)
}

/// Adds the ranges around the URI, including it.
fn around(text: &str, uri: Range<usize>, spans: &mut Vec<Range<usize>>) {
    let (before, behind) = (&text[..uri.start], &text[uri.end..]);
    if let Some(label) = before.strip_suffix("](").and_then(|text| text.rfind('['))
        && behind.starts_with(')')
        && !text[label..uri.start].contains('\n')
    {
        return spans.push(label..uri.end + 1);
    }
    let opens = before.rfind(['<', '>', '\n']);
    let closes = behind.find(['<', '>', '\n']);
    if let (Some(opens), Some(closes)) = (opens, closes)
        && text[opens..].starts_with('<')
        && behind[closes..].starts_with('>')
    {
        let tag = opens..uri.end + closes + 1;
        let name = text[opens + 1..].split([' ', '>']).next();
        let end = format!("</{}>", name.unwrap_or_default());
        let mut at = tag.end;
        loop {
            at = text.len() - text[at..].trim_start().len();
            match spans.iter().find(|span| span.start == at) {
                Some(span) => at = span.end,
                None => break,
            }
        }
        if text[at..].starts_with(&end) {
            spans.push(at..at + end.len());
        }
        return spans.push(tag);
    }
    let at_sign = usize::from(before.ends_with('@'));
    let colon = usize::from(behind.starts_with(":\n") || behind == ":");
    let (before, behind) = (&text[..uri.start - at_sign], &text[uri.end + colon..]);
    let pairs = [('[', ']'), ('(', ')'), ('<', '>'), ('`', '`'), ('"', '"')];
    let is_in_brackets = pairs
        .into_iter()
        .any(|(open, close)| before.ends_with(open) && behind.starts_with(close));
    let bracket = usize::from(is_in_brackets);
    spans.push(before.len() - bracket..uri.end + colon + bracket);
}

fn digits(text: &str) -> Option<&str> {
    text.get(..DIGITS).filter(|digits| is_hexadecimal(digits))
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn checksum(text: &str) -> String {
    let mut hasher = FnvHasher::default();
    for part in text.split_whitespace() {
        hasher.write(part.as_bytes());
    }
    format!("{:0DIGITS$x}", hasher.finish())
}

#[cfg(test)]
mod tests;
