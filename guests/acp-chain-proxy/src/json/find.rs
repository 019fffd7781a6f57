//! JSON Pointers (RFC 6901): from a value to a part of it, without parsing the rest.

use std::ops::Range;

use serde::de::DeserializeOwned;

use super::entries::Entries;
use super::{Json, Node};

/// The names and indices of a pointer; `None` if it is invalid.
pub(super) fn tokens(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let rooted = pointer.is_empty() || pointer.starts_with('/');
    let mut escapes = pointer.split('~').skip(1);
    if !rooted || !escapes.all(|escape| escape.starts_with(['0', '1'])) {
        return None;
    }
    Some(
        pointer
            .split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~")),
    )
}

/// An array index: digits without a leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    canonical.then(|| token.parse().ok())?
}

/// The part at a pointer as a Rust type.
pub(super) fn find<T: DeserializeOwned>(json: &Json, pointer: &str) -> Option<T> {
    let (mut part, mut tokens) = (json, tokens(pointer)?);
    loop {
        let next = match &part.0 {
            Node::Raw(raw) => return serde_json::from_str(&raw[place(raw, tokens)?]).ok(),
            Node::Array(items) => tokens.next().map(|token| items.get(index(&token)?)),
            Node::Object(members) => tokens.next().map(|token| members.get(&token)),
        };
        match next {
            Some(found) => part = found?,
            None => return part.parse().ok(),
        }
    }
}

/// The range of the part at the end of a path, each step of which is the name of a member or the index of an element.
pub(super) fn place(text: &str, mut path: impl Iterator<Item = String>) -> Option<Range<usize>> {
    path.try_fold(0..text.len(), |place, step| {
        let entry = Entries::of(text, place.start)?.named(&step)?;
        Some(entry.value)
    })
}
