//! The parts of a body that parsers may read differently: members of one object whose names some readers do not
//! distinguish, or whose names cannot be decoded; members that some readers take for others; lists in the place of
//! objects; and values that are nested too deep.
//!
//! Such parts of the original message may stay unchanged; a proxy may not add any.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use acp_chain_powers::fold;
use acp_chain_rpc::{Entries, Entry, Reading};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::ChannelError;
use super::work::Work;

/// How deep a body is searched.
const DEEPEST: usize = 128;

/// Whether the new body of a message of this method has a part that parsers may read differently, and that the old one
/// does not have at the same place.
pub fn are_added(
    method: &str,
    old: &str,
    new: &str,
    work: &mut Work,
) -> Result<bool, ChannelError> {
    let keys = RandomState::new();
    let reading = Reading::of_body(method);
    let mut find = |body: &str| {
        let mut search = Search {
            keys: &keys,
            work: &mut *work,
            found: HashSet::new(),
        };
        search.value(body.trim_start(), reading, 0, DEEPEST)?;
        Ok::<_, ChannelError>(search.found)
    };
    let (before, after) = (find(old)?, find(new)?);
    Ok(!after.is_subset(&before))
}

/// Collects such parts, as hashes of the parts and their places, since both may be long.
struct Search<'s> {
    keys: &'s RandomState,
    work: &'s mut Work,
    found: HashSet<u64>,
}

impl Search<'_> {
    fn value(
        &mut self,
        text: &str,
        reading: Reading,
        place: u64,
        depth: usize,
    ) -> Result<(), ChannelError> {
        if !text.starts_with(['{', '[']) {
            return Ok(());
        }
        self.work.spend(text.len())?;
        let Some(opened) = reading.open(text).filter(|_| depth > 0) else {
            self.found.insert(self.keys.hash_one((place, text)));
            return Ok(());
        };
        let mut named: HashMap<Option<String>, Vec<(&str, &str)>> = HashMap::new();
        for Entry { name, value } in Entries::of(text).into_iter().flatten() {
            match name {
                Some(name) => named.entry(plain(name)).or_default().push((name, value)),
                // An element's index does not count: others may be inserted before it.
                None => self.value(
                    value,
                    opened.element(),
                    self.keys.hash_one(place),
                    depth - 1,
                )?,
            }
        }
        for (name, members) in named {
            let place = self.keys.hash_one((place, &name));
            match (name, members.as_slice()) {
                (Some(_), [(name, value)]) if !opened.is_mistaken(name) => {
                    self.value(value, opened.member(name), place, depth - 1)?;
                }
                (_, unclear) => {
                    self.found.insert(self.keys.hash_one((place, unclear)));
                }
            }
        }
        Ok(())
    }
}

/// A name, from its JSON text, for a reader that ignores case; `None` if it cannot be decoded.
fn plain(name: &str) -> Option<String> {
    let name = serde_json::from_str::<String>(name).ok()?;
    Some(fold(&name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_earlier_ambiguities_may_stay() {
        let added = |old: &str, new: &str| are_added("m", old, new, &mut Work::default()).unwrap();
        let old = r#" {"x":[{"a":1,"A":2}],"y":0,"\ud800":3}"#;
        for same in [
            old,
            r#"{"y":[1],"x":[7,{"a":1,"A":2,"b":0}],"\ud800":3}"#,
            r#"{"y":0}"#,
        ] {
            assert!(!added(old, same), "{same}");
        }
        for other in [
            r#"{"x":[{"a":1,"A":3}]}"#,
            r#"{"x":[{"A":2,"a":1}]}"#,
            r#"{"x":[{"a":1,"A":2,"\u0061":3}]}"#,
            r#"{"x":{"a":1,"A":2}}"#,
            r#"{"y":[{"a":1,"A":2}]}"#,
            r#"{"x":[{"ſ":1,"s":2}]}"#,
            r#"{"\ud800":4}"#,
        ] {
            assert!(added(old, other), "{other}");
        }
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(200), "]".repeat(200));
        assert!(!added(&deep("1"), &deep("1")));
        assert!(added(&deep("1"), &deep("2")));
    }

    #[test]
    fn no_list_takes_the_place_of_an_object_in_a_message_that_is_ambiguous_already() {
        let added = |old: &str, new: &str| {
            are_added("session/prompt", old, new, &mut Work::default()).unwrap()
        };
        let old = r#"{"a":1,"A":2,"prompt":[{"type":"text"},["text",null,"a"]],"Title":"x"}"#;
        for same in [
            old,
            r#"{"a":1,"A":2,"prompt":[{"type":"text","text":"b"}]}"#,
            r#"{"Title":"x","prompt":[["text",null,"a"]],"_meta":{"prompt":[["b"]]}}"#,
        ] {
            assert!(!added(old, same), "{same}");
        }
        for other in [
            r#"{"a":1,"A":2,"prompt":[["text",null,"b"]]}"#,
            r#"{"prompt":[{"type":"resource","resource":["file:///a","b"]}]}"#,
            r#"{"update":["agent_message_chunk",{}]}"#,
            r#"{"Title":"y"}"#,
            r#"{"Prompt":[]}"#,
        ] {
            assert!(added(old, other), "{other}");
        }
    }
}
