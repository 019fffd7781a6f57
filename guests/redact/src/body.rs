//! The strings of a body that may hold secrets: all of them, but for what the protocol itself
//! needs unchanged.

use std::fmt;

use acp_chain_proxy::Json;
use serde::de::{Deserializer, Visitor};

use crate::detector::Detector;

/// Members that the protocol reads: names of kinds, places, and data that is not text. Members
/// whose name ends in `Id` are ids.
const NEEDED: &[&str] = &[
    "blob",
    "cwd",
    "data",
    "id",
    "kind",
    "mimeType",
    "oldPath",
    "path",
    "role",
    "sessionUpdate",
    "status",
    "type",
    "uri",
];

/// Members whose content is the agent's own affair, so that no name in it is the protocol's.
const FREE: &[&str] = &["_meta", "rawInput", "rawOutput"];

/// How deep a body is taken apart. What is nested deeper is replaced whole if it holds a secret.
const DEPTH: usize = 64;

/// Redacts the strings of a body. True if there was a secret.
pub(crate) fn redact(detector: &Detector, body: &mut Json) -> Result<bool, String> {
    Walk { detector }.value(body, false, DEPTH)
}

/// The text of a string with half of a surrogate pair in it, which is replaced.
fn broken_string(json: &Json) -> Option<String> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
    // Only as bytes can it have such halves.
    serde_json::Deserializer::from_str(&json.to_string())
        .deserialize_bytes(Text)
        .ok()
}

struct Walk<'a> {
    detector: &'a Detector,
}

impl Walk<'_> {
    fn value(&self, json: &mut Json, free: bool, depth: usize) -> Result<bool, String> {
        if depth == 0 {
            return self.text(json, &json.to_string());
        }
        if let Ok(text) = json.parse::<String>() {
            return self.text(json, &text);
        }
        let mut found = false;
        if let Some(members) = json.members_mut() {
            for (name, value) in members.iter_mut() {
                let needed = NEEDED.contains(&name) || name.ends_with("Id");
                if free || !needed {
                    found |= self.value(value, free || FREE.contains(&name), depth - 1)?;
                }
            }
        } else if let Some(items) = json.items_mut() {
            for item in items {
                found |= self.value(item, free, depth - 1)?;
            }
        } else if let Some(text) = broken_string(json) {
            return self.text(json, &text);
        }
        Ok(found)
    }

    fn text(&self, json: &mut Json, text: &str) -> Result<bool, String> {
        let Some(redacted) = self.detector.redact(text)? else {
            return Ok(false);
        };
        *json = Json::from(&*redacted);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
