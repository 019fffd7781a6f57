//! The strings and numbers of a JSON text, and their ranges. The text must be valid JSON.

use std::borrow::Cow;
use std::ops::Range;

use acp_chain_rpc::{decoded, end_of_string};
use acp_chain_trace::read_whole;

/// A step from a value to a part of it.
pub enum Step<'j> {
    /// The member of this name.
    Member(Cow<'j, str>),
    /// An element.
    Item,
}

/// The kind of a found value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// The name of a member.
    Name,
    /// Any other string.
    Text,
    Number,
}

/// A string or a number.
pub struct Scalar<'s, 'j> {
    /// Its path; for a member's name, the path to the member.
    pub path: &'s [Step<'j>],
    /// Its range, quotes included.
    pub range: Range<usize>,
    /// Its text; of a number, as it is spelt.
    pub text: Cow<'j, str>,
    pub what: ScalarKind,
}

/// Calls `show` for each string, member names included, and each number, in order.
pub fn each<'j>(json: &'j str, mut show: impl FnMut(Scalar<'_, 'j>)) {
    let bytes = json.as_bytes();
    let mut path: Vec<Step> = Vec::new();
    let (mut at, mut is_name) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let range = at..end_of_string(bytes, at);
                let text = text(&json[range.clone()]);
                at = range.end;
                if is_name && let Some(last) = path.last_mut() {
                    *last = Step::Member(text.clone());
                }
                show(Scalar {
                    path: &path,
                    range,
                    text,
                    what: if is_name {
                        ScalarKind::Name
                    } else {
                        ScalarKind::Text
                    },
                });
                is_name = false;
                continue;
            }
            b'-' | b'0'..=b'9' => {
                let spelt = bytes[at..].iter().take_while(|byte| is_of_number(**byte));
                let range = at..at + spelt.count();
                at = range.end;
                show(Scalar {
                    path: &path,
                    text: Cow::Borrowed(&json[range.clone()]),
                    range,
                    what: ScalarKind::Number,
                });
                continue;
            }
            b'{' => {
                path.push(Step::Member("".into()));
                is_name = true;
            }
            b'[' => path.push(Step::Item),
            b'}' | b']' => {
                path.pop();
                is_name = false;
            }
            b',' => is_name = matches!(path.last(), Some(Step::Member(_))),
            _ => {}
        }
        at += 1;
    }
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

/// The text of a string. A lone surrogate is replaced.
fn text(quoted: &str) -> Cow<'_, str> {
    decoded(quoted).unwrap_or_else(|| {
        let replaced = read_whole::<String>(quoted.as_bytes());
        replaced.unwrap_or_default().into()
    })
}

/// Whether a path consists of members with exactly these names.
pub fn leads(path: &[Step], names: &[&str]) -> bool {
    path.len() == names.len()
        && path.iter().zip(names).all(|(step, name)| match step {
            Step::Member(member) => member == name,
            Step::Item => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_numbers_are_shown_with_their_paths_and_decoded() {
        let json = r#"{"a" : ["x\n", {"b":"\ud800y"}, -1.5e3], "c\u0064":null,"":"\"" }"#;
        let mut shown = Vec::new();
        each(json, |found| {
            let path = found.path.iter().map(|step| match step {
                Step::Member(name) => &**name,
                Step::Item => "[]",
            });
            let path = path.collect::<Vec<_>>().join("/");
            shown.push((path, found.text.into_owned(), found.what));
            serde_json::from_str::<serde_json::Value>(&json[found.range]).ok();
        });
        let expected = [
            ("a", "a", ScalarKind::Name),
            ("a/[]", "x\n", ScalarKind::Text),
            ("a/[]/b", "b", ScalarKind::Name),
            ("a/[]/b", "\u{fffd}y", ScalarKind::Text),
            ("a/[]", "-1.5e3", ScalarKind::Number),
            ("cd", "cd", ScalarKind::Name),
            ("", "", ScalarKind::Name),
            ("", "\"", ScalarKind::Text),
        ];
        let expected = expected.map(|(path, text, what)| (path.into(), text.into(), what));
        assert_eq!(shown, expected);
    }
}
