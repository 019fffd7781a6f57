//! Equality of a recording and a replay. Ids may differ, but correspond from their first occurrence on; times may
//! differ; a masked secret in the recording matches any text, and any number.

use std::collections::HashMap;
use std::fmt::Write;

use acp_chain_trace::{is_id, is_time};
use serde_json::Value;

use crate::transcript::has_parts;

/// The beginning and the end of a masked secret.
const MARKER: (&str, char) = ("[secret: ", ']');

/// The ids of the recording, and the corresponding ones of the replay.
#[derive(Debug, Default)]
pub struct Ids {
    now: HashMap<String, Value>,
    then: HashMap<String, Value>,
}

/// The place at which two values differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Unequal {
    /// The JSON pointer of the place.
    pub at: String,
    pub expected: Value,
    pub received: Value,
}

impl Ids {
    /// Whether a received value equals the expected one. New ids correspond to each other from now on.
    pub fn same(&mut self, expected: &Value, received: &Value) -> Result<(), Unequal> {
        self.compare(&mut String::new(), "", expected, received)
    }

    fn compare(
        &mut self,
        at: &mut String,
        member: &str,
        expected: &Value,
        received: &Value,
    ) -> Result<(), Unequal> {
        let is_scalar = |value: &Value| value.is_string() || value.is_number();
        let are_scalars = is_scalar(expected) && is_scalar(received);
        let is_same = match (expected, received) {
            (Value::Object(expected), Value::Object(received)) => {
                let names = expected.keys();
                let more = received.keys().filter(|name| !expected.contains_key(*name));
                for name in names.chain(more) {
                    let length = at.len();
                    at.push('/');
                    at.push_str(name);
                    // A missing member equals null.
                    let null = Value::Null;
                    let [expected, received] =
                        [expected, received].map(|object| object.get(name).unwrap_or(&null));
                    self.compare(at, name, expected, received)?;
                    at.truncate(length);
                }
                true
            }
            (Value::Array(all), Value::Array(received)) if all.len() == received.len() => {
                for (number, (expected, received)) in all.iter().zip(received).enumerate() {
                    let length = at.len();
                    let _ = write!(at, "/{number}");
                    self.compare(at, "", expected, received)?;
                    at.truncate(length);
                }
                true
            }
            _ if are_scalars && is_id(member) => self.correspond(expected, received),
            _ if are_scalars && is_time(member) => true,
            (Value::String(expected), Value::String(received)) => is_text(expected, received),
            (Value::String(expected), Value::Number(received)) => {
                expected.starts_with(MARKER.0) && is_text(expected, &received.to_string())
            }
            (expected, received) => expected == received,
        };
        let unequal = || Unequal {
            at: at.clone(),
            expected: expected.clone(),
            received: received.clone(),
        };
        is_same.then_some(()).ok_or_else(unequal)
    }

    /// Whether two ids correspond. New ids correspond from now on.
    fn correspond(&mut self, then: &Value, now: &Value) -> bool {
        let keys = [then.to_string(), now.to_string()];
        match (self.now.get(&keys[0]), self.then.get(&keys[1])) {
            (None, None) => {
                let [of_then, of_now] = keys;
                self.now.insert(of_then, now.clone());
                self.then.insert(of_now, then.clone());
                true
            }
            (known_now, known_then) => known_now == Some(now) && known_then == Some(then),
        }
    }

    /// A value to be sent, with its recorded ids replaced by those of the replay.
    pub fn renamed(&self, member: &str, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, value)| (name.clone(), self.renamed(name, value)));
                Value::Object(members.collect())
            }
            Value::Array(values) => {
                let values = values.iter().map(|value| self.renamed(member, value));
                Value::Array(values.collect())
            }
            value if is_id(member) => {
                let now = self.now.get(&value.to_string());
                now.unwrap_or(value).clone()
            }
            value => value.clone(),
        }
    }

    /// The recorded session that corresponds to one of the replay.
    pub fn session_then(&self, now: &str) -> String {
        let then = self.then.get(&Value::from(now).to_string());
        then.and_then(Value::as_str).unwrap_or(now).to_owned()
    }
}

/// Whether a text equals that of the recording, in which a masked secret may be any text.
fn is_text(expected: &str, received: &str) -> bool {
    let mut parts = Vec::new();
    let mut rest = expected;
    while let Some((before, behind)) = rest.split_once(MARKER.0)
        && let Some((_, behind)) = behind.split_once(MARKER.1)
    {
        parts.push(before);
        rest = behind;
    }
    parts.push(rest);
    has_parts(received, &parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_correspond_from_their_first_occurrence_on() {
        let mut ids = Ids::default();
        let same = |ids: &mut Ids, then: &str, now: &str| {
            ids.same(&json!({ "sessionId": then }), &json!({ "sessionId": now }))
        };
        same(&mut ids, "a", "b").unwrap();
        same(&mut ids, "a", "b").unwrap();
        assert_eq!(same(&mut ids, "a", "c").unwrap_err().at, "/sessionId");
        same(&mut ids, "c", "b").unwrap_err();
        let said = json!({ "sessionId": "a", "text": "a", "toolIds": ["a"] });
        let now = json!({ "sessionId": "b", "text": "a", "toolIds": ["a"] });
        assert_eq!(ids.renamed("", &said), now);
        assert_eq!(ids.session_then("b"), "a");
    }

    #[test]
    fn times_orders_of_members_and_nulls_are_no_difference() {
        let mut ids = Ids::default();
        let then = json!({ "a": 1, "updatedAt": "yesterday", "b": null });
        let now = json!({ "updatedAt": "today", "a": 1 });
        ids.same(&then, &now).unwrap();
        let wrong = ids.same(&json!({ "a": [1, 2] }), &json!({ "a": [1, 3] }));
        assert_eq!(wrong.unwrap_err().at, "/a/1");
    }

    #[test]
    fn a_masked_secret_matches_any_text_but_the_text_around_it_must_match() {
        let masked = "the key [secret: aws] and [secret: github token].";
        for (received, is_same) in [
            ("the key AKIA and ghp_1.", true),
            ("the key [secret: aws] and [secret: github token].", true),
            ("the key AKIA or ghp_1.", false),
            ("the key AKIA and ghp_1", false),
            ("key AKIA and ghp_1.", false),
        ] {
            assert_eq!(is_text(masked, received), is_same, "{received}");
        }
        assert!(!is_text("[secret: open", "anything"));
    }
}
