//! Reads JSON that Rust types cannot represent: unpaired surrogates, numbers that are too large, and deep nesting. Such
//! a message must not end the reader.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// Reads JSON, with U+FFFD in place of each unpaired surrogate.
///
/// # Errors
/// If it is not JSON, has a number that is too large, or is nested too deeply.
pub fn read_whole<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let mut json = json.to_vec();
    replace_halves(&mut json);
    serde_json::from_slice(&json)
}

/// The members of an object. Values that cannot be represented are null. `None` if it is not an object.
#[must_use]
pub fn read_in_part(json: &[u8]) -> Option<Value> {
    let members: BTreeMap<String, Box<RawValue>> = read_whole(json).ok()?;
    let read = |text: &RawValue| serde_json::from_str(text.get()).unwrap_or(Value::Null);
    let members = members.into_iter();
    Some(members.map(|(name, text)| (name, read(&text))).collect())
}

fn replace_halves(json: &mut [u8]) {
    let unit = |json: &[u8], at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    // Only strings have backslashes.
    while let Some(found) = json
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        at += found;
        at += match (unit(json, at), unit(json, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                json[at..at + 6].copy_from_slice(b"\\ufffd");
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        let read: Value = read_whole(br#"["\ud800 \ud83d\ude00 \\ud800 \ude00"]"#).unwrap();
        assert_eq!(read, json!(["\u{fffd} \u{1f600} \\ud800 \u{fffd}"]));
    }

    #[test]
    fn unrepresentable_members_are_null() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let object = format!(r#"{{"a":1e999,"b":{deep},"c":"\ud800"}}"#);
        read_whole::<Value>(object.as_bytes()).unwrap_err();
        let read = read_in_part(object.as_bytes()).unwrap();
        assert_eq!(read, json!({ "a": null, "b": null, "c": "\u{fffd}" }));
        assert_eq!(read_in_part(b"[1]"), None);
    }
}
