//! Changes to single places in JSON text. Everything else keeps its bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::entries::Entries;
use super::pointer::{InvalidPointer, index, spells, tokens, walk};

/// Why a place cannot be changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The pointer is malformed.
    #[error(transparent)]
    Pointer(#[from] InvalidPointer),
    /// No object or array can have a value at this place.
    #[error("there is no place {0:?}")]
    NoPlace(String),
    /// There is no value to remove at this place.
    #[error("there is nothing at {0:?} to remove")]
    NothingThere(String),
}

/// The text `json` with the value at a JSON Pointer replaced or removed. A missing member is appended to its object;
/// `-` as the last part adds an element to its array. `value` is JSON text.
///
/// An object or array of more than 2²⁰ entries cannot be changed.
///
/// Of duplicate names, the last gets the new value; removing one removes all.
pub fn edit(json: &str, pointer: &str, value: Option<&str>) -> Result<String, EditError> {
    let no_place = || EditError::NoPlace(pointer.to_owned());
    let nothing = || EditError::NothingThere(pointer.to_owned());
    let tokens = tokens(pointer)?;
    let Some((name, parent)) = tokens.split_last() else {
        return value.map(str::to_owned).ok_or_else(nothing);
    };
    let parent = walk(json, parent).ok_or_else(no_place)?;
    let entries = Places::of(parent, name).ok_or_else(no_place)?;
    let changes = match (entries.found(), value) {
        (Some(found), Some(value)) => vec![(found.value.clone(), value.to_owned())],
        (Some(_), None) => entries.without_named(),
        (None, None) => return Err(nothing()),
        (None, Some(value)) => vec![entries.addition(name, value).ok_or_else(no_place)?],
    };
    let offset = parent.as_ptr().addr() - json.as_ptr().addr();
    let moved = |range: Range<usize>| offset + range.start..offset + range.end;
    let changes = changes.into_iter().map(|(range, new)| (moved(range), new));
    Ok(splice(json, changes))
}

/// The text with other values at these places, which are in order and disjoint.
pub fn splice(
    text: &str,
    changes: impl IntoIterator<Item = (Range<usize>, impl AsRef<str>)>,
) -> String {
    let (mut spliced, mut from) = (String::with_capacity(text.len()), 0);
    for (range, new) in changes {
        spliced.push_str(&text[from..range.start]);
        spliced.push_str(new.as_ref());
        from = range.end;
    }
    spliced.push_str(&text[from..]);
    spliced
}

/// The text `json` with a new value at a JSON Pointer, as by [`edit`]; on the path, missing objects are created, also
/// in place of `null`.
pub fn set(json: &str, pointer: &str, value: &str) -> Result<String, EditError> {
    let edited = edit(json, pointer, Some(value));
    let Err(EditError::NoPlace(_)) = edited else {
        return edited;
    };
    let tokens = tokens(pointer)?;
    // Down to the last existing object.
    let (mut found, mut depth) = (json, 0);
    while let Some(token) = tokens.get(depth)
        && let Some(next) = walk(found, std::slice::from_ref(token))
        && next != "null"
    {
        (found, depth) = (next, depth + 1);
    }
    let is_whole = depth == 0 && json.trim() == "null";
    let missing = tokens
        .get(if is_whole { 0 } else { depth + 1 }..)
        .unwrap_or_default();
    if missing.is_empty() || missing.iter().any(|name| name == "-") {
        return edited;
    }
    let inner = missing.iter().rev().fold(value.to_owned(), |value, name| {
        // A string always serializes.
        let name = serde_json::to_string(name).unwrap_or_default();
        format!("{{{name}:{value}}}")
    });
    if is_whole {
        return Ok(inner);
    }
    let mut ends = memchr::memchr_iter(b'/', pointer.as_bytes()).skip(depth + 1);
    let parent = &pointer[..ends.next().unwrap_or(pointer.len())];
    if found.trim_start().starts_with('{') {
        edit(json, parent, Some(&inner))
    } else {
        edited
    }
}

/// The text `json` with new values at several places, read once. `None` if one of the places is missing, lies within
/// another, or is to be removed: then [`edit`] must make the changes one by one.
pub fn edit_at_once(
    json: &str,
    edits: &[(&str, Option<&str>)],
) -> Result<Option<String>, EditError> {
    let parsed: Vec<_> = edits
        .iter()
        .map(|(pointer, value)| Ok((tokens(pointer)?, *value)))
        .collect::<Result<_, EditError>>()?;
    let aims: Vec<_> = parsed
        .iter()
        .filter_map(|(tokens, value)| Some((tokens.as_slice(), (*value)?)))
        .collect();
    let mut spans = Vec::with_capacity(edits.len());
    if aims.len() < edits.len() || !aim(json, json, &aims, &mut spans) {
        return Ok(None);
    }
    spans.sort_by_key(|(range, _)| range.start);
    Ok(Some(splice(json, spans)))
}

/// Collects the ranges, in the whole text, of the values to replace in a part. Returns false if one is missing, or lies
/// within another.
fn aim<'v>(
    whole: &str,
    part: &str,
    aims: &[(&[String], &'v str)],
    spans: &mut Vec<(Range<usize>, &'v str)>,
) -> bool {
    if let [([], value)] = aims {
        let start = part.as_ptr().addr() - whole.as_ptr().addr();
        spans.push((start..start + part.len(), value));
        return true;
    }
    let mut named: BTreeMap<&str, Vec<(&[String], &str)>> = BTreeMap::new();
    for (tokens, value) in aims {
        let Some((name, rest)) = tokens.split_first() else {
            return false;
        };
        named.entry(name).or_default().push((rest, value));
    }
    let Some(found) = several(part, &named) else {
        return false;
    };
    found.len() == named.len()
        && found
            .into_iter()
            .all(|(name, value)| aim(whole, value, &named[name], spans))
}

/// Finds several members or elements at once, by name or index; `None` if one occurs twice.
fn several<'t, 'n, A>(
    part: &'t str,
    named: &BTreeMap<&'n str, A>,
) -> Option<BTreeMap<&'n str, &'t str>> {
    let entries = Entries::of(part)?;
    let by_index: BTreeMap<_, _> = named.keys().map(|name| (index(name), *name)).collect();
    let mut found = BTreeMap::new();
    for (at, entry) in entries.enumerate() {
        let wanted = match entry.name {
            // A name that cannot be decoded matches none.
            Some(name) => serde_json::from_str::<Cow<str>>(name)
                .ok()
                .and_then(|name| Some(*named.get_key_value(&*name)?.0)),
            None => by_index.get(&Some(at)).copied(),
        };
        if let Some(name) = wanted
            && found.insert(name, entry.value).is_some()
        {
            return None;
        }
    }
    Some(found)
}

/// The largest object or array that can be changed, in entries: the places of all are kept meanwhile.
const ENTRIES: usize = 1 << 20;

/// A replacement for a part of a container's text.
type Change = (Range<usize>, String);

/// The entries of an object or array, by place in its text.
struct Places {
    is_object: bool,
    list: Vec<Place>,
    /// The offset behind the opening bracket.
    inside: usize,
}

struct Place {
    /// Where the member's name begins, or the element's value.
    start: usize,
    value: Range<usize>,
    /// Whether the last part of the pointer names it.
    named: bool,
}

impl Places {
    fn of(container: &str, aim: &str) -> Option<Self> {
        let entries = Entries::of(container)?;
        let (is_object, inside) = (entries.is_object, entries.at());
        let place = |text: &str| text.as_ptr().addr() - container.as_ptr().addr();
        let index = index(aim);
        let mut list = Vec::new();
        for entry in entries {
            if list.len() == ENTRIES {
                return None;
            }
            let start = place(entry.value);
            list.push(Place {
                start: entry.name.map_or(start, place),
                value: start..start + entry.value.len(),
                named: match entry.name {
                    Some(name) => spells(name, aim),
                    None => index == Some(list.len()),
                },
            });
        }
        Some(Self {
            is_object,
            list,
            inside,
        })
    }

    fn found(&self) -> Option<&Place> {
        self.list.iter().rfind(|entry| entry.named)
    }

    /// Removes the named entries, and a comma for each.
    fn without_named(&self) -> Vec<Change> {
        let stays = self.list.iter().rposition(|entry| !entry.named);
        let (inner, last) = self.list.split_at(stays.map_or(0, |at| at + 1));
        let pairs = inner.iter().zip(inner.iter().skip(1));
        let mut removed: Vec<_> = pairs
            .filter(|(entry, _)| entry.named)
            .map(|(entry, next)| entry.start..next.start)
            .collect();
        if let [first, .., end] | [first @ end] = last {
            // No comma follows these entries, so the one before them is removed.
            let start = inner.last().map_or(first.start, |before| before.value.end);
            removed.push(start..end.value.end);
        }
        removed
            .into_iter()
            .map(|range| (range, String::new()))
            .collect()
    }

    /// The insertion of a new entry; `None` if an array cannot have it.
    fn addition(&self, name: &str, value: &str) -> Option<Change> {
        let entry = if self.is_object {
            format!("{}:{value}", serde_json::to_string(name).ok()?)
        } else if name == "-" {
            value.to_owned()
        } else {
            return None;
        };
        Some(match self.list.last() {
            Some(last) => (last.value.end..last.value.end, format!(",{entry}")),
            None => (self.inside..self.inside, entry),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_replaced_added_or_removed_and_the_rest_keeps_its_bytes() {
        let json = r#" {"a" : [1e400, {"b":-0.0}],  "\u0063":null, "c":"\ud800" } "#;
        for (pointer, value, expected) in [
            (
                "/a/0",
                Some("7"),
                r#" {"a" : [7, {"b":-0.0}],  "\u0063":null, "c":"\ud800" } "#,
            ),
            (
                "/c",
                Some("7"),
                r#" {"a" : [1e400, {"b":-0.0}],  "\u0063":null, "c":7 } "#,
            ),
            (
                "/a/-",
                Some("7"),
                r#" {"a" : [1e400, {"b":-0.0},7],  "\u0063":null, "c":"\ud800" } "#,
            ),
            (
                "/a/1/~1\"",
                Some("7"),
                r#" {"a" : [1e400, {"b":-0.0,"/\"":7}],  "\u0063":null, "c":"\ud800" } "#,
            ),
            (
                "/a/0",
                None,
                r#" {"a" : [{"b":-0.0}],  "\u0063":null, "c":"\ud800" } "#,
            ),
            (
                "/a/1",
                None,
                r#" {"a" : [1e400],  "\u0063":null, "c":"\ud800" } "#,
            ),
            (
                "/a/1/b",
                None,
                r#" {"a" : [1e400, {}],  "\u0063":null, "c":"\ud800" } "#,
            ),
            ("/c", None, r#" {"a" : [1e400, {"b":-0.0}] } "#),
            ("", Some("7"), "7"),
        ] {
            assert_eq!(
                edit(json, pointer, value).as_deref(),
                Ok(expected),
                "{pointer}"
            );
        }
        assert_eq!(edit("{ }", "/a", Some("1")).as_deref(), Ok(r#"{"a":1 }"#));
        assert_eq!(edit("[ ]", "/-", Some("1")).as_deref(), Ok("[1 ]"));
    }

    #[test]
    fn nothing_is_left_at_a_place_from_which_something_was_removed() {
        for (json, expected) in [
            (r#"{"a":1, "b":2 ,"\u0061":3 }"#, r#"{"b":2 }"#),
            (r#"{"b":1,"a":2 ,"a":3}"#, r#"{"b":1}"#),
            (r#"{"a":1, "a":2,"b":{"a":3}}"#, r#"{"b":{"a":3}}"#),
            (r#"{ "a":1,"a":2 }"#, "{  }"),
        ] {
            assert_eq!(edit(json, "/a", None).as_deref(), Ok(expected), "{json}");
        }
        let twice = r#"{"a":1, "a":2}"#;
        assert_eq!(
            edit(twice, "/a", Some("3")).as_deref(),
            Ok(r#"{"a":1, "a":3}"#)
        );
    }

    #[test]
    fn a_missing_place_is_an_error() {
        let json = r#"{"a":[1],"b":"x"}"#;
        for pointer in ["/a/1", "/a/x", "/a/01", "/b/c", "/c/d", "/a/-/b"] {
            let no_place = Err(EditError::NoPlace(pointer.to_owned()));
            assert_eq!(edit(json, pointer, Some("1")), no_place);
        }
        for pointer in ["/c", "/a/-", "/a/1", ""] {
            let nothing = Err(EditError::NothingThere(pointer.to_owned()));
            assert_eq!(edit(json, pointer, None), nothing);
        }
        let long = "/0".repeat(65);
        for pointer in ["a", "/~", "a/b", &long] {
            let invalid = EditError::Pointer(InvalidPointer(pointer.to_owned()));
            assert_eq!(edit(json, pointer, Some("1")), Err(invalid));
        }
    }

    #[test]
    fn objects_are_made_on_the_way_to_a_place() {
        for (json, pointer, expected) in [
            (r#"{"a":1}"#, "/b/c", Some(r#"{"a":1,"b":{"c":7}}"#)),
            (
                r#"{"a":{ }}"#,
                "/a/b~1/c/d",
                Some(r#"{"a":{"b/":{"c":{"d":7}} }}"#),
            ),
            (r#" {"a":null}"#, "/a/b", Some(r#" {"a":{"b":7}}"#)),
            (
                r#"{"a":[{}]}"#,
                "/a/0/b/c",
                Some(r#"{"a":[{"b":{"c":7}}]}"#),
            ),
            (r#"{"a":{"b":1}}"#, "/a/c", Some(r#"{"a":{"b":1,"c":7}}"#)),
            ("null", "/a/b", Some(r#"{"a":{"b":7}}"#)),
            (r#"{"a":"x"}"#, "/a/b", None),
            (r#"{"a":[]}"#, "/a/0/b", None),
            (r#"{"a":{}}"#, "/a/b/-", None),
            ("7", "/a/b", None),
        ] {
            let no_place = EditError::NoPlace(pointer.to_owned());
            let expected = expected.map(str::to_owned).ok_or(no_place);
            assert_eq!(set(json, pointer, "7"), expected, "{json} {pointer}");
        }
    }

    #[test]
    fn containers_with_too_many_entries_cannot_be_changed() {
        let zeros = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(edit(&zeros(ENTRIES), "/0", Some("1")).is_ok());
        let over = edit(&zeros(ENTRIES + 1), "/0", Some("1"));
        assert_eq!(over, Err(EditError::NoPlace("/0".to_owned())));
    }

    #[test]
    fn edits_at_once_are_the_same_as_one_after_the_other() {
        let json = r#" {"a" : [1, {"b":2}],  "c":{"d":"e"} } "#;
        for (edits, at_once) in [
            (
                &[
                    ("/a/0", Some("7")),
                    ("/c/d", Some("8")),
                    ("/a/1/b", Some("9")),
                ][..],
                true,
            ),
            (&[("/c", Some("1"))], true),
            (&[], true),
            (&[("/a/1", Some("{}")), ("/a/1/b", Some("9"))], false),
            (&[("/a/1/b", Some("9")), ("/a/1", Some("{}"))], false),
            (&[("/a/0", None), ("/a/0", Some("1"))], false),
            (&[("/c/x", Some("1")), ("/c/d", Some("2"))], false),
            (&[("/c", Some("1")), ("/c", Some("2"))], false),
            (&[("", Some("{}")), ("/c", Some("2"))], false),
            (&[("/a/-", Some("3")), ("/a/2", Some("4"))], false),
        ] {
            let one_by_one = edits
                .iter()
                .try_fold(json.to_owned(), |json, (pointer, value)| {
                    edit(&json, pointer, *value)
                });
            let edited = edit_at_once(json, edits).unwrap();
            assert_eq!(edited.is_some(), at_once, "{edits:?}");
            assert!(!at_once || edited == one_by_one.ok(), "{edits:?}");
        }
        let twice = r#"{"a":1,"a":2,"b":3}"#;
        let edits = [("/a", Some("4")), ("/b", Some("5"))];
        assert_eq!(edit_at_once(twice, &edits), Ok(None));
    }
}
