//! Batches: several messages in one line (JSON-RPC 2.0 §6).

use bytes::Bytes;
use serde_json::value::RawValue;

use super::entries::Entries;

/// The most messages that a batch may have.
pub const MAX_MESSAGES: usize = 4096;

/// The text of each message of a batch, in order. `None` if the line is not a batch, or the batch is empty or has more
/// than [`MAX_MESSAGES`].
pub fn members(line: &[u8]) -> Option<Vec<Bytes>> {
    let line: &RawValue = serde_json::from_slice(line).ok()?;
    let entries = Entries::of(line.get()).filter(|entries| !entries.is_object)?;
    let members = entries.map(|member| Bytes::copy_from_slice(member.value.as_bytes()));
    let members: Vec<_> = members.take(MAX_MESSAGES + 1).collect();
    (1..=MAX_MESSAGES)
        .contains(&members.len())
        .then_some(members)
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
