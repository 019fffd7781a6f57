//! Changes to single places of JSON text, as the host makes them: the rest keeps its bytes.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::find;

/// The text with a value at a place replaced, added or removed. To set one, objects that are missing or `null` on the
/// way are created.
pub(super) fn splice(text: &str, pointer: &str, value: Option<&str>) -> Result<String, String> {
    let no_place = || format!("there is no place `{pointer}`");
    let nothing = || format!("there is nothing at `{pointer}` to remove");
    let tokens: Vec<String> = find::tokens(pointer)
        .ok_or_else(|| format!("`{pointer}` is not a JSON Pointer"))?
        .collect();
    let (place, depth) = down(text, &tokens);
    let (Some(name), missing) = (
        tokens.get(depth),
        tokens.get(depth + 1..).unwrap_or_default(),
    ) else {
        return value.map(str::to_owned).ok_or_else(nothing);
    };
    let value = value.map(|value| made(missing, value));
    if depth == 0 && text.trim() == "null" {
        let value = value.filter(|_| !tokens.iter().any(|token| token == "-"));
        return value
            .map(|value| made(&tokens[..1], &value))
            .ok_or_else(no_place);
    }
    let entries = Entries::of(text, place).ok_or_else(no_place)?;
    let is_made = entries.is_object && value.is_some() && !missing.iter().any(|token| token == "-");
    if !missing.is_empty() && !is_made {
        return Err(no_place());
    }
    let (range, new) = match (entries.position(name), value) {
        (Some(found), Some(value)) => (entries.list[found].value.clone(), value),
        (Some(found), None) => (entries.without(found), String::new()),
        (None, None) => return Err(nothing()),
        (None, Some(value)) => entries.addition(name, &value).ok_or_else(no_place)?,
    };
    Ok([&text[..range.start], &new, &text[range.end..]].concat())
}

/// The innermost object or array on the way to a place, and how many tokens lead to it.
fn down(text: &str, tokens: &[String]) -> (Range<usize>, usize) {
    let (mut place, mut depth) = (0..text.len(), 0);
    while depth + 1 < tokens.len()
        && let Some(within) = Entries::of(text, place.clone())
        && let Some(found) = within.position(&tokens[depth])
        && text[within.list[found].value.clone()] != *"null"
    {
        (place, depth) = (within.list[found].value.clone(), depth + 1);
    }
    (place, depth)
}

/// A value nested in objects with these names.
fn made(names: &[String], value: &str) -> String {
    let within = |value, name: &String| format!("{{{}:{value}}}", serde_json::Value::from(&**name));
    names.iter().rev().fold(value.to_owned(), within)
}

/// The entries of an object or array, by range in the whole text.
struct Entries {
    is_object: bool,
    list: Vec<Entry>,
    /// Just after the opening bracket.
    inside: usize,
}

struct Entry {
    /// `None` in an array.
    name: Option<String>,
    /// With its name.
    whole: Range<usize>,
    value: Range<usize>,
}

impl Entries {
    /// `None` if it is neither an object nor an array.
    fn of(text: &str, place: Range<usize>) -> Option<Self> {
        let part = &text[place.clone()];
        let mut reader = serde_json::Deserializer::from_str(part);
        let list = reader.deserialize_any(EntriesVisitor { text }).ok()?;
        let bracket = part.find(['{', '['])?;
        Some(Self {
            is_object: part[bracket..].starts_with('{'),
            list,
            inside: place.start + bracket + 1,
        })
    }

    /// Of duplicate names the last counts.
    fn position(&self, name: &str) -> Option<usize> {
        if self.is_object {
            let named = |entry: &Entry| entry.name.as_deref() == Some(name);
            self.list.iter().rposition(named)
        } else {
            find::index(name).filter(|index| *index < self.list.len())
        }
    }

    /// The range to remove for an entry: the entry and one comma.
    fn without(&self, at: usize) -> Range<usize> {
        let whole = &self.list[at].whole;
        match (at.checked_sub(1), self.list.get(at + 1)) {
            (_, Some(next)) => whole.start..next.whole.start,
            (Some(before), None) => self.list[before].whole.end..whole.end,
            (None, None) => whole.clone(),
        }
    }

    /// Where a new entry goes, and its text; `None` if an array cannot have it.
    fn addition(&self, name: &str, value: &str) -> Option<(Range<usize>, String)> {
        let entry = if self.is_object {
            format!("{}:{value}", serde_json::Value::from(name))
        } else if name == "-" {
            value.to_owned()
        } else {
            return None;
        };
        Some(match self.list.last() {
            Some(last) => (last.whole.end..last.whole.end, format!(",{entry}")),
            None => (self.inside..self.inside, entry),
        })
    }
}

struct EntriesVisitor<'t> {
    text: &'t str,
}

impl EntriesVisitor<'_> {
    fn range(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr().addr() - self.text.as_ptr().addr();
        start..start + part.get().len()
    }
}

impl<'de> Visitor<'de> for EntriesVisitor<'de> {
    type Value = Vec<Entry>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let value = self.range(value);
            list.push(Entry {
                name: serde_json::from_str(name.get()).ok(),
                whole: self.range(name).start..value.end,
                value,
            });
        }
        Ok(list)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element::<&RawValue>()? {
            let value = self.range(value);
            list.push(Entry {
                name: None,
                whole: value.clone(),
                value,
            });
        }
        Ok(list)
    }
}
