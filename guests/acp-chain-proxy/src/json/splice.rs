//! Changes to single places of JSON text, as the host makes them: the rest keeps its bytes.

use std::ops::Range;

use super::entries::{Entries, Entry};
use super::find;

/// The text with a value at a place replaced, added or removed. To set one, objects that are missing or `null` on the
/// way are created.
pub(super) fn splice(text: &str, pointer: &str, value: Option<&str>) -> Result<String, String> {
    let no_place = || format!("there is no place `{pointer}`");
    let nothing = || format!("there is nothing at `{pointer}` to remove");
    let tokens: Vec<String> = find::tokens(pointer)
        .ok_or_else(|| format!("`{pointer}` is not a JSON Pointer"))?
        .collect();
    let (start, depth) = down(text, &tokens);
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
    let entries = Entries::of(text, start).ok_or_else(no_place)?;
    let (is_object, inside) = (entries.is_object, entries.at());
    let list: Vec<Entry> = entries.collect();
    let is_made = is_object && value.is_some() && !missing.iter().any(|token| token == "-");
    if !missing.is_empty() && !is_made {
        return Err(no_place());
    }
    let found = if is_object {
        list.iter().rposition(|entry| entry.is_named(name))
    } else {
        find::index(name).filter(|index| *index < list.len())
    };
    let (range, new) = match (found, value) {
        (Some(at), Some(value)) => (list[at].value.clone(), value),
        (Some(at), None) => (without(&list, at), String::new()),
        (None, None) => return Err(nothing()),
        (None, Some(value)) => {
            let added = if is_object {
                format!("{}:{value}", serde_json::Value::from(&**name))
            } else if name == "-" {
                value
            } else {
                return Err(no_place());
            };
            match list.last() {
                Some(entry) => (entry.value.end..entry.value.end, format!(",{added}")),
                None => (inside..inside, added),
            }
        }
    };
    Ok([&text[..range.start], &new, &text[range.end..]].concat())
}

/// Where the innermost object or array on the way to a place begins, and how many tokens lead to it.
fn down(text: &str, tokens: &[String]) -> (usize, usize) {
    let (mut start, mut depth) = (0, 0);
    while depth + 1 < tokens.len()
        && let Some(entries) = Entries::of(text, start)
        && let Some(next) = entries.named(&tokens[depth])
        && text[next.value.clone()] != *"null"
    {
        (start, depth) = (next.value.start, depth + 1);
    }
    (start, depth)
}

/// A value nested in objects with these names.
fn made(names: &[String], value: &str) -> String {
    let within = |value, name: &String| format!("{{{}:{value}}}", serde_json::Value::from(&**name));
    names.iter().rev().fold(value.to_owned(), within)
}

/// The range to remove for an entry: the entry and one comma.
fn without(list: &[Entry], at: usize) -> Range<usize> {
    let Entry { start, value, .. } = &list[at];
    match (at.checked_sub(1), list.get(at + 1)) {
        (_, Some(next)) => *start..next.start,
        (Some(before), None) => list[before].value.end..value.end,
        (None, None) => *start..value.end,
    }
}
