//! Members that the host adds to the parameters of a request. Everything that is not theirs keeps its bytes.

use std::borrow::Cow;

use serde_json::Value;

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Entries, edit};

/// JSON text with `ours` in it: members join those of objects, elements follow those of arrays, and of anything else,
/// `ours` counts. An error says why they cannot be joined; `at` is the pointer to `theirs`.
///
/// A member that occurs twice cannot be joined, as readers disagree about which one counts.
pub(super) fn merged(theirs: &str, ours: &Value, at: &str) -> Result<String, String> {
    let begins = |sign: char| theirs.trim_start().starts_with(sign);
    match ours {
        Value::Object(_) | Value::Array(_) if theirs.trim() == "null" => Ok(ours.to_string()),
        Value::Object(_) if !begins('{') => Err(unfit(at, "is no object")),
        Value::Array(_) if !begins('[') => Err(unfit(at, "is no array")),
        Value::Object(members) => {
            let mut members = members.iter();
            members.try_fold(theirs.to_owned(), |text, (name, our)| {
                let token = name.replace('~', "~0").replace('/', "~1");
                let place = format!("{at}/{token}");
                let new = match only(&text, name).map_err(|why| unfit(&place, why))? {
                    Some(their) => merged(their, our, &place)?,
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

fn unfit(at: &str, why: &str) -> String {
    let at = quote(at, MAX_QUOTE);
    format!(
        "the agent's hooks cannot be added to the parameters of this request, as `{at}` {why}; change that, or start \
         with `--hooks off`"
    )
}

/// The value of a member, if there is one; an error if the member occurs twice.
fn only<'t>(object: &'t str, name: &str) -> Result<Option<&'t str>, &'static str> {
    let entries = Entries::of(object).into_iter().flatten();
    let mut named = entries.filter(|entry| {
        let own = entry.name.map(serde_json::from_str::<Cow<str>>);
        own.is_some_and(|own| own.is_ok_and(|own| own == name))
    });
    let found = named.next().map(|entry| entry.value);
    match named.next() {
        None => Ok(found),
        Some(_) => Err("occurs twice"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merged;

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
        ] {
            assert_eq!(
                merged(theirs, &ours, "").as_deref(),
                Ok(expected),
                "{theirs}"
            );
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
                "`/_meta/a~1b` is no object",
            ),
            (r#"{"_meta":{},"\u005fmeta":{}}"#, "`/_meta` occurs twice"),
            (
                r#"{"_meta":{"a/b":{"c":1,"c":2}}}"#,
                "`/_meta/a~1b/c` occurs twice",
            ),
        ] {
            let error = merged(theirs, &ours, "").unwrap_err();
            assert!(error.contains(named), "{theirs}: {error}");
        }
        let ours = json!({ "_meta": { "a": [1] } });
        let error = merged(r#"{"_meta":{"a":{}}}"#, &ours, "").unwrap_err();
        assert!(error.contains("`/_meta/a` is no array"), "{error}");
    }
}
