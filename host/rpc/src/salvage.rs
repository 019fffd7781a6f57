//! Finds the id in a malformed or over-long line, so that its sender or requester gets an error and does not wait
//! forever.

use serde_json::value::RawValue;

use super::Id;
use super::pointer::{member, spells};

/// What could be salvaged of a malformed or over-long line.
#[derive(Debug, Default)]
pub struct PartialMessage {
    /// The id at the top level.
    pub id: Option<Id>,
    /// Whether there is a `method` or `params`, so that the line is not an answer.
    pub request: bool,
    /// Whether there is a `result` or an `error`, so that the line is an answer.
    pub answer: bool,
}

/// Looks for an id at the top level of a line of which only both ends are known.
///
/// The beginning is read as far as it is JSON. An id may also follow the body, at the end of the line; it counts only
/// if nothing but members follows, and the beginning shows whether the line is a request or an answer.
pub fn salvage(head: &[u8], tail: &[u8]) -> PartialMessage {
    let mut found = PartialMessage::default();
    read_fields(&String::from_utf8_lossy(head), &mut found);
    if found.id.is_none() && (found.request || found.answer) {
        found.id = last_id(&String::from_utf8_lossy(tail));
    }
    found
}

fn read_fields(head: &str, found: &mut PartialMessage) {
    struct Fields<'f> {
        head: &'f str,
        found: &'f mut PartialMessage,
    }
    impl Fields<'_> {
        /// Whether the value may be truncated, as it ends with the text.
        fn may_go_on(&self, value: &RawValue) -> bool {
            value.get().as_bytes().as_ptr_range().end == self.head.as_bytes().as_ptr_range().end
        }
    }
    impl<'de> serde::de::Visitor<'de> for Fields<'_> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(name) = map.next_key::<&RawValue>()? {
                // A name counts even if its value is truncated or malformed.
                self.found.request |= spells(name.get(), "method") || spells(name.get(), "params");
                self.found.answer |= spells(name.get(), "result") || spells(name.get(), "error");
                let value = map.next_value::<&RawValue>()?;
                if spells(name.get(), "id") && !self.may_go_on(value) {
                    self.found.id = Id::parse(value.get());
                }
            }
            Ok(())
        }
    }
    // Members before the place where the text ends or stops being JSON count.
    let _ = serde::Deserializer::deserialize_map(
        &mut serde_json::Deserializer::from_str(head),
        Fields { head, found },
    );
}

/// The id among the last members of an object, if only members and the end of the object follow.
fn last_id(tail: &str) -> Option<Id> {
    let at = tail.rfind("\"id\"")?;
    // After any other character, the quote is inside a string.
    let is_name = tail[..at].trim_end().ends_with(['{', ',']);
    let object = format!("{{{}", tail.get(at..).filter(|_| is_name)?);
    serde_json::from_str::<&RawValue>(&object).ok()?;
    Id::parse(member(&object, "id")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(head: &str, tail: &str) -> Option<String> {
        salvage(head.as_bytes(), tail.as_bytes())
            .id
            .map(|id| id.as_str().to_owned())
    }

    #[test]
    fn an_id_before_or_behind_the_body_is_found() {
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":7,"result":{"a":"xxx"#, "xxx").as_deref(),
            Some("7")
        );
        assert_eq!(
            id(r#"{"result":{"id":1,"x":"#, r#"xx","id":3}},"id":"u"}"#).as_deref(),
            Some("\"u\"")
        );
        assert_eq!(
            id(r#"{"result":{"id":1,"x":"#, r#"xx","id":3},"z":1}"#),
            None
        );
        for quote in [
            r#"{"method":"m","\"id":1,"z":2}"#,
            r#"{"method":"m","x":"\"id"}"#,
        ] {
            assert_eq!(id(quote, quote), None);
            assert_eq!(
                id(r#"{"method":"m","x"#, quote.rsplit_once('\\').unwrap().1),
                None
            );
        }
        let log = r#"[debug] got {"method":"m","params":{},"id":3}"#;
        assert_eq!(id(log, log), None);
        let broken = r#"{"jsonrpc":"2.0","method":"m","params":{"n":NaN},"id":3}"#;
        assert_eq!(id(broken, broken).as_deref(), Some("3"));
        assert_eq!(id("npm warn deprecated", "npm warn deprecated"), None);
    }

    #[test]
    fn a_part_of_an_id_is_none() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":12"#, "3}"), None);
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":"12"#, "3\"}"), None);
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":12,"#, "}").as_deref(),
            Some("12")
        );
    }

    #[test]
    fn a_request_is_told_from_an_answer() {
        assert!(salvage(br#"{"method":"m","id":1,"params":"#, b"").request);
        assert!(salvage(br#"{"params":{"#, br#"},"method":"m","id":1}"#).request);
        let answer = salvage(br#"{"id":1,"result":{"method":"#, b"");
        assert!(answer.answer && !answer.request);
    }
}
