//! Changes to single places of JSON text. What is not changed keeps its bytes.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::pointer::{InvalidPointer, resolve, spells, unescape};

/// Why a place cannot be changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The pointer is none.
    #[error(transparent)]
    Pointer(#[from] InvalidPointer),
    /// There is no object or array that could have something at this place.
    #[error("there is no place {0:?}")]
    NoPlace(String),
    /// There is nothing at this place that could be removed.
    #[error("there is nothing at {0:?} to remove")]
    NothingThere(String),
}

/// The text `json` with another value at the place that a JSON Pointer names, or without the one
/// that is there. A member that is not there is added to its object, at the end; `-` as the last
/// part adds an element to its array. `value` is JSON text.
pub fn edit(json: &str, pointer: &str, value: Option<&str>) -> Result<String, EditError> {
    let no_place = || EditError::NoPlace(pointer.to_owned());
    let nothing = || EditError::NothingThere(pointer.to_owned());
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        // The empty pointer is the whole; what is not empty has a slash.
        resolve(json, pointer)?;
        return value.map(str::to_owned).ok_or_else(nothing);
    };
    let name = unescape(last).ok_or_else(|| InvalidPointer(pointer.to_owned()))?;
    let parent = resolve(json, parent)?.ok_or_else(no_place)?;
    let entries = Entries::of(parent, &name).ok_or_else(no_place)?;
    let offset = parent.as_ptr().addr() - json.as_ptr().addr();
    let (range, new) = match (entries.found, value) {
        (Some(at), Some(value)) => (entries.list[at].value.clone(), value.to_owned()),
        (Some(at), None) => (entries.without(at), String::new()),
        (None, None) => return Err(nothing()),
        (None, Some(value)) => entries.addition(&name, value).ok_or_else(no_place)?,
    };
    let (start, end) = (offset + range.start, offset + range.end);
    Ok([&json[..start], &new, &json[end..]].concat())
}

/// What an object or array holds, by place in its text.
struct Entries {
    is_object: bool,
    list: Vec<Entry>,
    /// The entry that the last part of the pointer names. Of equal names, the last one.
    found: Option<usize>,
    /// Just behind the opening bracket.
    inside: usize,
}

struct Entry {
    /// Where its name begins, or in an array its value.
    start: usize,
    value: Range<usize>,
}

impl Entries {
    fn of(container: &str, name: &str) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_str(container);
        let mut entries = reader.deserialize_any(Read { container, name }).ok()?;
        entries.inside = container.find(['{', '['])? + 1;
        Some(entries)
    }

    /// The text that goes when an entry does: itself, and one comma.
    fn without(&self, at: usize) -> Range<usize> {
        let entry = &self.list[at];
        match (at.checked_sub(1), self.list.get(at + 1)) {
            (_, Some(next)) => entry.start..next.start,
            (Some(before), None) => self.list[before].value.end..entry.value.end,
            (None, None) => entry.start..entry.value.end,
        }
    }

    /// Where a new entry goes, and its text; `None` if an array cannot have it.
    fn addition(&self, name: &str, value: &str) -> Option<(Range<usize>, String)> {
        let entry = match self.is_object {
            true => format!("{}:{value}", serde_json::to_string(name).ok()?),
            false if name == "-" => value.to_owned(),
            false => return None,
        };
        Some(match self.list.last() {
            Some(last) => (last.value.end..last.value.end, format!(",{entry}")),
            None => (self.inside..self.inside, entry),
        })
    }
}

struct Read<'t> {
    container: &'t str,
    name: &'t str,
}

impl Read<'_> {
    fn range(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr().addr() - self.container.as_ptr().addr();
        start..start + part.get().len()
    }
}

impl<'de> Visitor<'de> for Read<'de> {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let (mut list, mut found) = (Vec::new(), None);
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            if spells(name, self.name) {
                found = Some(list.len());
            }
            let (start, value) = (self.range(name).start, self.range(value));
            list.push(Entry { start, value });
        }
        Ok(Entries {
            is_object: true,
            list,
            found,
            inside: 0,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Entries, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element::<&RawValue>()? {
            let value = self.range(value);
            list.push(Entry {
                start: value.start,
                value,
            });
        }
        let found = super::pointer::index(self.name).filter(|at| *at < list.len());
        Ok(Entries {
            is_object: false,
            list,
            found,
            inside: 0,
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
            (
                "/c",
                None,
                r#" {"a" : [1e400, {"b":-0.0}],  "\u0063":null } "#,
            ),
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
    fn what_has_no_place_is_an_error() {
        let json = r#"{"a":[1],"b":"x"}"#;
        for pointer in ["/a/1", "/a/x", "/a/01", "/b/c", "/c/d", "/a/-/b"] {
            let no_place = Err(EditError::NoPlace(pointer.to_owned()));
            assert_eq!(edit(json, pointer, Some("1")), no_place);
        }
        for pointer in ["/c", "/a/-", "/a/1", ""] {
            let nothing = Err(EditError::NothingThere(pointer.to_owned()));
            assert_eq!(edit(json, pointer, None), nothing);
        }
        for pointer in ["a", "/~", "a/b"] {
            assert!(
                matches!(edit(json, pointer, Some("1")), Err(EditError::Pointer(_))),
                "{pointer}"
            );
        }
    }
}
