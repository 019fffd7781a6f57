//! JSON Pointers (RFC 6901) into JSON text, without building a tree.

use std::borrow::Cow;
use std::cmp::Ordering;

use acp_chain_powers::fold;
use serde::de::DeserializeOwned;

use super::entries::Entries;

/// A pointer that is neither empty nor begins with `/`, has a `~` that is not `~0` or `~1`, or has
/// more than 64 parts.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a JSON Pointer (RFC 6901) of at most 64 parts")]
pub struct InvalidPointer(pub(super) String);

/// The longest pointer that a proxy may use, in bytes.
pub const MAX_POINTER: usize = 4096;

/// The maximum number of parts of a pointer, which bounds the depth of the search.
const DEPTH: usize = 64;

/// The text of the value at `pointer` in `json`; `None` if there is no value at that place.
pub fn resolve<'a>(json: &'a str, pointer: &str) -> Result<Option<&'a str>, InvalidPointer> {
    Ok(walk(json, &tokens(pointer)?))
}

/// The reference tokens of a pointer, without their escapes.
pub(super) fn tokens(pointer: &str) -> Result<Vec<String>, InvalidPointer> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let invalid = || InvalidPointer(pointer.to_owned());
    let tokens = pointer.strip_prefix('/').ok_or_else(invalid)?.split('/');
    if tokens.clone().nth(DEPTH).is_some() {
        return Err(invalid());
    }
    tokens
        .map(unescape)
        .collect::<Option<_>>()
        .ok_or_else(invalid)
}

/// The text of the value to which reference tokens lead. The JSON is read once, however many there are.
pub(super) fn walk<'a>(json: &'a str, tokens: &[String]) -> Option<&'a str> {
    match tokens {
        [] => Some(json),
        [token, rest @ ..] => within(&mut Entries::of(json)?, token, rest),
    }
}

/// The text of the value to which `token` and `rest` lead from the entries of an object or array, which are read to
/// their end. Of duplicate names the last one counts, as for nearly every JSON parser.
fn within<'a>(entries: &mut Entries<'a>, token: &str, rest: &[String]) -> Option<&'a str> {
    let mut before = if entries.is_object {
        None
    } else {
        index(token)
    };
    let mut found = None;
    while entries.advance() {
        let leads = match entries.name {
            Some(name) => spells(name, token),
            None => before == Some(0),
        };
        before = before.and_then(|before| before.checked_sub(1));
        let inner = match rest {
            [next, rest @ ..] if leads => entries.inner().map(|inner| (inner, next, rest)),
            _ => None,
        };
        if let Some((mut inner, next, rest)) = inner {
            found = within(&mut inner, next, rest);
            entries.leave(&inner);
            continue;
        }
        let value = entries.value();
        if leads {
            found = value.filter(|_| rest.is_empty());
        }
    }
    found
}

/// A reference token without its escapes; `None` if one is invalid.
fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        plain.push(match part.as_bytes().first()? {
            b'0' => '~',
            b'1' => '/',
            _ => return None,
        });
        plain.push_str(&part[1..]);
    }
    Some(plain)
}

/// The text of a member of the object at the top of `json`; `None` if there is no such member, or
/// no object.
pub fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut entries = Entries::of(json).filter(|entries| entries.is_object)?;
    within(&mut entries, name, &[])
}

/// The value to which a JSON Pointer leads, if it is of this type.
pub fn value_at<T: DeserializeOwned>(json: &str, pointer: &str) -> Option<T> {
    serde_json::from_str(resolve(json, pointer).ok()??).ok()
}

/// The string that a member of the object at the top of `json` has; `None` if there is no such member, or it has no
/// string.
pub fn text_member(json: &str, name: &str) -> Option<String> {
    serde_json::from_str(member(json, name)?).ok()
}

/// The values of the members of the object at the top of `json` that some reader may take for `name`, each with whether
/// it has exactly that name. Some readers ignore case, and a name that cannot be decoded may be any name.
pub(super) fn like<'a>(json: &'a str, name: &str) -> impl Iterator<Item = (&'a str, bool)> {
    let entries = Entries::of(json).filter(|entries| entries.is_object);
    let meant = fold(name).into_owned();
    let name = name.to_owned();
    entries.into_iter().flatten().filter_map(move |entry| {
        let found = decoded(entry.name?);
        let is_like = found.as_deref().is_none_or(|found| fold(found) == meant);
        is_like.then(|| (entry.value, found.as_deref() == Some(&*name)))
    })
}

/// The decoded string of a JSON text, such as the name of a member; `None` if it cannot be decoded.
pub fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let raw = text.get(1..text.len().saturating_sub(1))?;
    match memchr::memchr(b'\\', raw.as_bytes()) {
        None => Some(raw.into()),
        Some(_) => serde_json::from_str::<String>(text).ok().map(Cow::from),
    }
}

/// Whether the JSON text of a member's name spells this name. A name that cannot be decoded, such as a lone surrogate,
/// matches none.
pub(super) fn spells(text: &str, name: &str) -> bool {
    let Some(raw) = text.get(1..text.len().saturating_sub(1)) else {
        return false;
    };
    // Escapes make a text longer, so comparing lengths decides most cases.
    match raw.len().cmp(&name.len()) {
        Ordering::Less => false,
        Ordering::Equal => raw == name && !raw.contains('\\'),
        Ordering::Greater => {
            raw.contains('\\') && decoded(text).is_some_and(|decoded| decoded == name)
        }
    }
}

/// A reference token as an array index, which has no leading zeros.
pub(super) fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_6901() {
        let json =
            r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7, "k\"l": 6}"#;
        for (pointer, value) in [
            ("", json),
            ("/foo", r#"["bar", "baz"]"#),
            ("/foo/0", r#""bar""#),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/m~0n", "8"),
            ("/ ", "7"),
            ("/k\"l", "6"),
        ] {
            assert_eq!(resolve(json, pointer), Ok(Some(value)), "{pointer}");
        }
    }

    #[test]
    fn a_missing_value_is_none_and_an_invalid_pointer_is_an_error() {
        for pointer in ["/foo", "/0/x", "/1", "/00", "/-", "/+0"] {
            assert_eq!(resolve(r#"["x"]"#, pointer), Ok(None), "{pointer}");
        }
        for pointer in ["foo", "/~", "/~2", "/a/~", &"/a".repeat(65)] {
            assert!(resolve("{}", pointer).is_err(), "{pointer}");
        }
        assert_eq!(resolve("{}", &"/a".repeat(64)), Ok(None));
    }

    #[test]
    fn names_are_compared_decoded_and_need_not_be_decodable() {
        let json = r#"{"lone\ud800":1,"\u0061":2,"b":3,"b":4}"#;
        assert_eq!(member(json, "a"), Some("2"));
        assert_eq!(member(json, "b"), Some("4"));
        assert_eq!(member(json, "c"), None);
        assert_eq!(member("[7]", "0"), None);
    }

    #[test]
    fn members_are_like_one_in_any_case_and_if_they_cannot_be_decoded() {
        let json = r#"{"a":1,"A":2,"\u0061":3,"b":{"a":0},"\ud800":4}"#;
        let found: Vec<_> = like(json, "a").collect();
        assert_eq!(
            found,
            [("1", true), ("2", false), ("3", true), ("4", false)]
        );
        assert_eq!(like("[]", "a").count() + like("null", "a").count(), 0);
    }

    #[test]
    fn values_on_the_path_are_read_to_their_end() {
        let json = r#"{"a":[0,{"b":{"c":"]}"},"b":[1,2]}, 3],"a":{"b":[[],{"c":4}]} ,"d":5}"#;
        for (pointer, value) in [
            ("/a/b/1/c", Some("4")),
            ("/a/b/0", Some("[]")),
            ("/a/b/2", None),
            ("/a/1/b", None),
            ("/a/b/1/c/x", None),
            ("/d/x", None),
            ("/d", Some("5")),
        ] {
            assert_eq!(resolve(json, pointer), Ok(value), "{pointer}");
        }
        let json = r#"[[1,{"x":2}],[3,{"x":4,"x":{}}]]"#;
        assert_eq!(resolve(json, "/0/1/x"), Ok(Some("2")));
        assert_eq!(resolve(json, "/1/1/x"), Ok(Some("{}")));
        assert_eq!(resolve(json, "/1/0"), Ok(Some("3")));
    }

    #[test]
    fn spelling_is_kept() {
        assert_eq!(resolve(r#"{"a":{"b":1e400}}"#, "/a/b"), Ok(Some("1e400")));
        assert_eq!(resolve(r#"{"a":"\u00e9"}"#, "/a"), Ok(Some(r#""\u00e9""#)));
    }
}
