//! Batches: several messages in one line (JSON-RPC 2.0 §6).

use std::fmt;

use bytes::Bytes;
use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The most messages that a batch may have.
pub const MAX_MESSAGES: usize = 4096;

/// The text of each message of a batch, in order. `None` if the line is not a batch, or the batch is empty or has more
/// than [`MAX_MESSAGES`].
#[must_use]
pub fn members(line: &[u8]) -> Option<Vec<Bytes>> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let members = reader.deserialize_seq(Members).ok()?;
    Some(members).filter(|members| !members.is_empty())
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Bytes>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Bytes>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = list.next_element::<&RawValue>()? {
            if members.len() == MAX_MESSAGES {
                return Err(A::Error::custom("too many"));
            }
            members.push(Bytes::copy_from_slice(member.get().as_bytes()));
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_a_batch_keep_their_bytes() {
        let line = br#" [ {"id" : 1e400}, 7 ,{"s":"]"} ]"#;
        let expected = [r#"{"id" : 1e400}"#, "7", r#"{"s":"]"}"#];
        assert_eq!(members(line).unwrap(), expected);
        for none in ["[]", "{}", "[1", "", "[1,]"] {
            assert_eq!(members(none.as_bytes()), None, "{none}");
        }
        let most = |count: usize| format!("[0{}]", ",0".repeat(count - 1));
        assert_eq!(
            members(most(MAX_MESSAGES).as_bytes()).unwrap().len(),
            MAX_MESSAGES
        );
        assert_eq!(members(most(MAX_MESSAGES + 1).as_bytes()), None);
    }
}
