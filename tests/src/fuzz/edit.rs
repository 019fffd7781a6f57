//! Finding and changing single places of JSON text.

use acp_chain::rpc::{self, EditError};
use serde_json::Value;

use super::json::{Part, is_json, is_object, parts, start};

/// How many parts a pointer may have.
const DEPTH: usize = 64;

/// The value at a place is found, replaced, added or removed as in a tree of values, and all other
/// bytes stay.
///
/// The first line is a JSON Pointer, the second the new value, or empty to remove the old one, and
/// the rest is the text.
///
/// # Panics
/// If this does not hold.
pub fn edit(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut lines = text.splitn(3, '\n');
    let [Some(pointer), Some(value), Some(json)] = [(); 3].map(|()| lines.next()) else {
        return;
    };
    let value = (!value.is_empty()).then_some(value);
    let found = rpc::resolve(json, pointer);
    let edited = rpc::edit(json, pointer, value);
    if !is_json(json) || !value.is_none_or(is_json) {
        // The host never passes invalid JSON: it is enough that both calls end.
        return;
    }
    let Some(tokens) = tokens(pointer) else {
        assert!(found.is_err(), "found by an invalid pointer: {found:?}");
        let invalid = matches!(edited, Err(EditError::Pointer(_)));
        assert!(invalid, "changed by an invalid pointer: {edited:?}");
        return;
    };
    assert_eq!(found, Ok(at(json, &tokens)));
    if let Ok(tree) = serde_json::from_str::<Value>(json) {
        let found = at(json, &tokens).and_then(|found| serde_json::from_str(found).ok());
        assert_eq!(tree.pointer(pointer).cloned(), found);
    }
    let Some((last, parent)) = tokens.split_last() else {
        // The whole text can be replaced, but not removed.
        let nothing = EditError::NothingThere(String::new());
        return assert_eq!(edited, value.map(str::to_owned).ok_or(nothing));
    };
    match (ChangedJson::new(json, parent, last, value), edited) {
        (Ok(expected), Ok(edited)) => {
            assert!(is_json(&edited), "{edited}");
            expected.is(&edited);
            if let Some(tree) = changed_tree(json, pointer, last, value)
                && let Ok(edited) = serde_json::from_str::<Value>(&edited)
            {
                assert_eq!(edited, tree);
            }
        }
        (Err(error), Err(edited)) => assert_eq!(edited, error(pointer.to_owned())),
        (Ok(_), Err(error)) => panic!("it was not changed: {error}"),
        (Err(_), Ok(edited)) => panic!("changed without a place: {edited}"),
    }
}

/// The parts of a JSON Pointer (RFC 6901); `None` if the pointer is invalid or too long.
fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let tokens: Vec<_> = pointer.strip_prefix('/')?.split('/').collect();
    let plain = tokens.iter().map(|token| {
        let mut escapes = token.split('~').skip(1);
        let right = escapes.all(|escape| escape.starts_with(['0', '1']));
        right.then(|| token.replace("~1", "/").replace("~0", "~"))
    });
    plain
        .collect::<Option<_>>()
        .filter(|_| tokens.len() <= DEPTH)
}

/// The value at a place.
fn at<'t>(json: &'t str, tokens: &[String]) -> Option<&'t str> {
    tokens.iter().try_fold(json, |json, token| {
        let parts = parts(json)?;
        index(json, &parts, token).map(|at| parts[at].value)
    })
}

/// The index of the part that a token names; the last one of equal names.
fn index(value: &str, parts: &[Part], token: &str) -> Option<usize> {
    if is_object(value) {
        return parts.iter().rposition(|part| part.is_named(token));
    }
    // Only the canonical spelling of a number names an element.
    let at = token
        .parse()
        .ok()
        .filter(|at: &usize| at.to_string() == token);
    at.filter(|at| *at < parts.len())
}

/// A text in which one part of an object or array was changed.
struct ChangedJson<'t> {
    json: &'t str,
    /// The object or array.
    parent: &'t str,
    /// The names and values of the parent after the change.
    parts: Vec<(Option<String>, String)>,
    /// How many of the parent's bytes may be lost, apart from a removed part.
    lost: usize,
}

impl<'t> ChangedJson<'t> {
    /// The change at a place, or the error if there can be none.
    fn new(
        json: &'t str,
        parent: &[String],
        name: &str,
        value: Option<&str>,
    ) -> Result<Self, fn(String) -> EditError> {
        let parent = at(json, parent).ok_or(EditError::NoPlace as fn(_) -> _)?;
        let before = parts(parent).ok_or(EditError::NoPlace as fn(_) -> _)?;
        let own = |part: &Part| (part.name.map(str::to_owned), part.value.to_owned());
        let mut parts: Vec<_> = before.iter().map(own).collect();
        let mut lost = 0;
        match (index(parent, &before, name), value) {
            (Some(at), Some(value)) => {
                lost = before[at].value.len();
                parts[at].1 = value.trim().to_owned();
            }
            (Some(at), None) => {
                // All members of that name are removed.
                let stays = |(other, part): &(usize, &Part)| *other != at && !part.is_named(name);
                let stay = before.iter().enumerate().filter(stays);
                parts = stay.map(|(_, part)| own(part)).collect();
                if parts.len() + 1 < before.len() {
                    lost = parent.len();
                }
            }
            (None, None) => return Err(EditError::NothingThere),
            (None, Some(value)) if is_object(parent) => {
                parts.push((Some(Value::from(name).to_string()), value.trim().to_owned()));
            }
            (None, Some(value)) if name == "-" => parts.push((None, value.trim().to_owned())),
            (None, Some(_)) => return Err(EditError::NoPlace),
        }
        Ok(Self {
            json,
            parent,
            parts,
            lost,
        })
    }

    /// The text has the changed parts, and is otherwise as before.
    fn is(&self, text: &str) {
        let start = start(self.json, self.parent);
        let (before, after) = (&self.json[..start], &self.json[start + self.parent.len()..]);
        let inner = text.strip_prefix(before);
        let inner = inner.and_then(|inner| inner.strip_suffix(after));
        let inner = inner.expect("the text around the parent stays");
        let own = |part: Part| (part.name.map(str::to_owned), part.value.to_owned());
        let parts = parts(inner).expect("the parts").into_iter().map(own);
        assert_eq!(parts.collect::<Vec<_>>(), self.parts);
        let same = |(one, other): &(u8, u8)| one == other;
        let begin = self.parent.bytes().zip(inner.bytes()).take_while(same);
        let end = self.parent.bytes().rev().zip(inner.bytes().rev());
        let kept = begin.count() + end.take_while(same).count();
        let expected = inner.len().min(self.parent.len() - self.lost);
        assert!(kept >= expected, "more than the part is lost: {inner}");
    }
}

/// The same change to a tree of values; `None` if values cannot represent the text.
fn changed_tree(json: &str, pointer: &str, last: &str, value: Option<&str>) -> Option<Value> {
    let mut tree: Value = serde_json::from_str(json).ok()?;
    let value = value.map(serde_json::from_str).transpose().ok()?;
    let (parent, _) = pointer.rsplit_once('/')?;
    match (tree.pointer_mut(parent)?, value) {
        (Value::Object(members), Some(value)) => drop(members.insert(last.to_owned(), value)),
        (Value::Object(members), None) => drop(members.remove(last)),
        (Value::Array(elements), Some(value)) if last == "-" => elements.push(value),
        (Value::Array(elements), Some(value)) => elements[last.parse::<usize>().ok()?] = value,
        (Value::Array(elements), None) => drop(elements.remove(last.parse().ok()?)),
        _ => return None,
    }
    Some(tree)
}
