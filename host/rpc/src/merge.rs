//! Values that join JSON text. Everything else keeps its bytes.

use serde_json::Value;
use serde_json::value::RawValue;

use super::edit::edit;
use super::entries::Entries;
use super::pointer::spells;
use super::untrusted::{MAX_QUOTE, quote};

/// Why two values cannot be joined.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {why}", quote(.at, MAX_QUOTE))]
pub struct MergeError {
    /// The pointer to the value into which the other does not fit.
    at: String,
    why: &'static str,
}

/// JSON text with `ours` in it: members join those of objects, elements follow those of arrays, and of anything else,
/// `ours` counts. A string with the text of an object becomes that object: so Claude takes its settings.
///
/// # Errors
/// If a value is of another kind than ours, or a member occurs twice: readers disagree about which one counts.
pub fn merge(theirs: &str, ours: &Value) -> Result<String, MergeError> {
    merge_at("", theirs, ours)
}

/// The same for the value at this pointer.
fn merge_at(at: &str, theirs: &str, ours: &Value) -> Result<String, MergeError> {
    let begins = |sign: char| theirs.trim_start().starts_with(sign);
    match ours {
        Value::Object(_) | Value::Array(_) if theirs.trim() == "null" => Ok(ours.to_string()),
        Value::Object(_) if begins('"') => match object_in(theirs) {
            Some(object) => merge_at(at, &object, ours),
            None => Err(unfit(at, "is a text, and not that of an object")),
        },
        Value::Object(_) if !begins('{') => Err(unfit(at, "is no object")),
        Value::Array(_) if !begins('[') => Err(unfit(at, "is no array")),
        Value::Object(members) => {
            let mut members = members.iter();
            members.try_fold(theirs.to_owned(), |text, (name, our)| {
                let token = name.replace('~', "~0").replace('/', "~1");
                let place = format!("{at}/{token}");
                let new = match only(&text, name).map_err(|why| unfit(&place, why))? {
                    Some(their) => merge_at(&place, their, our)?,
                    None => our.to_string(),
                };
                edit(&text, &format!("/{token}"), Some(&new)).map_err(|_| unfit(at, "is too large"))
            })
        }
        Value::Array(elements) => {
            let mut elements = elements.iter();
            elements.try_fold(theirs.to_owned(), |text, our| {
                let our = our.to_string();
                edit(&text, "/-", Some(&our)).map_err(|_| unfit(at, "is too large"))
            })
        }
        _ => Ok(ours.to_string()),
    }
}

/// The JSON text of the object that a string has; `None` if it has something else.
fn object_in(string: &str) -> Option<String> {
    let text: String = serde_json::from_str(string).ok()?;
    let object = text.trim();
    let is_json = serde_json::from_str::<&RawValue>(object).is_ok();
    (is_json && object.starts_with('{')).then(|| object.to_owned())
}

fn unfit(at: &str, why: &'static str) -> MergeError {
    let at = at.to_owned();
    MergeError { at, why }
}

/// The value of a member, if there is one; an error if the member occurs twice.
fn only<'t>(object: &'t str, name: &str) -> Result<Option<&'t str>, &'static str> {
    let entries = Entries::of(object).into_iter().flatten();
    let mut named = entries.filter(|entry| entry.name.is_some_and(|own| spells(own, name)));
    let found = named.next().map(|entry| entry.value);
    match named.next() {
        None => Ok(found),
        Some(_) => Err("occurs twice"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merge;

    #[test]
    fn members_are_joined_and_the_rest_keeps_its_bytes() {
        let ours = json!({ "_meta": { "a": { "b": [1], "c": true } } });
        for (theirs, expected) in [
            ("null", r#"{"_meta":{"a":{"b":[1],"c":true}}}"#),
            (
                r#"{"cwd":"/p" }"#,
                r#"{"cwd":"/p","_meta":{"a":{"b":[1],"c":true}} }"#,
            ),
            (
                r#"{"_meta":null, "x":1e400}"#,
                r#"{"_meta":{"a":{"b":[1],"c":true}}, "x":1e400}"#,
            ),
            (
                r#"{"_meta": {"own" : -0.0,"a":{"c":"\ud800", "b":[ 7 ]}}}"#,
                r#"{"_meta": {"own" : -0.0,"a":{"c":true, "b":[ 7,1 ]}}}"#,
            ),
            (
                r#"{"\u005fmeta":{"a":{ }}}"#,
                r#"{"\u005fmeta":{"a":{"b":[1],"c":true }}}"#,
            ),
            (
                r#"{"_meta":{"a":" {\"own\":1e400,\"b\":[\n7]}\n"}}"#,
                "{\"_meta\":{\"a\":{\"own\":1e400,\"b\":[\n7,1],\"c\":true}}}",
            ),
        ] {
            assert_eq!(merge(theirs, &ours).as_deref(), Ok(expected), "{theirs}");
        }
    }

    #[test]
    fn what_cannot_be_joined_is_named() {
        let ours = json!({ "_meta": { "a/b": { "c": 1 } } });
        for (theirs, named) in [
            ("[]", "`` is no object"),
            (r#"{"_meta":7}"#, "`/_meta` is no object"),
            (
                r#"{"_meta":{"a/b":"/a/path"}}"#,
                "`/_meta/a~1b` is a text, and not that of an object",
            ),
            (
                r#"{"_meta":{"a/b":"{\"c\":1"}}"#,
                "`/_meta/a~1b` is a text, and not that of an object",
            ),
            (
                r#"{"_meta":{"a/b":"{\"c\":1,\"c\":2}"}}"#,
                "`/_meta/a~1b/c` occurs twice",
            ),
            (r#"{"_meta":{},"\u005fmeta":{}}"#, "`/_meta` occurs twice"),
            (
                r#"{"_meta":{"a/b":{"c":1,"c":2}}}"#,
                "`/_meta/a~1b/c` occurs twice",
            ),
        ] {
            let error = merge(theirs, &ours).unwrap_err().to_string();
            assert!(error.contains(named), "{theirs}: {error}");
        }
        let ours = json!({ "_meta": { "a": [1] } });
        let error = merge(r#"{"_meta":{"a":{}}}"#, &ours).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("`/_meta/a` is no array"), "{error}");
    }
}
