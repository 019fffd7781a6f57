//! Reads JSON that Rust types cannot represent: unpaired surrogates, numbers that are too large, and deep nesting. Such
//! a message must not end the reader.

use std::collections::BTreeMap;

use acp_chain_rpc::well_formed;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// Reads JSON, with U+FFFD in place of each unpaired surrogate.
///
/// # Errors
/// If it is not JSON, has a number that is too large, or is nested too deeply.
pub fn read_whole<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(&well_formed(json))
}

/// The members of an object. Values that cannot be represented are null. `None` if it is not an object.
pub fn read_in_part(json: &[u8]) -> Option<Value> {
    let members: BTreeMap<String, Box<RawValue>> = read_whole(json).ok()?;
    let read = |text: &RawValue| serde_json::from_str(text.get()).unwrap_or(Value::Null);
    let members = members.into_iter();
    Some(members.map(|(name, text)| (name, read(&text))).collect())
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
