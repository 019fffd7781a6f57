//! The kinds of session updates.

/// The effect of an update on the conversation that a client shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It appends to a text or an output: a secret may begin in one update and end in the next.
    Appends,
    /// It sets or removes a part of the conversation.
    Sets,
    /// It adds nothing to the conversation, and so may occur between two updates that append to a text.
    Aside,
}

macro_rules! updates {
    ($($name:literal $change:ident,)*) => {
        /// Every kind of update of both versions, by the name in `sessionUpdate`.
        pub const UPDATES: &[&str] = &[$($name,)*];

        impl Change {
            /// The effect of an update of this kind. An unknown kind appends if its name ends with `_chunk`.
            #[must_use]
            pub fn of(kind: &str) -> Self {
                match kind {
                    $($name => Self::$change,)*
                    _ if kind.ends_with("_chunk") => Self::Appends,
                    _ => Self::Sets,
                }
            }
        }
    };
}

updates! {
    "user_message_chunk" Appends,
    "agent_message_chunk" Appends,
    "agent_thought_chunk" Appends,
    "user_message" Sets,
    "agent_message" Sets,
    "agent_thought" Sets,
    "notice" Sets,
    "compaction_update" Sets,
    "compaction_summary_chunk" Appends,
    "subagent_update" Sets,
    "session_message" Sets,
    "session_message_chunk" Appends,
    "tool_call" Sets,
    "tool_call_update" Sets,
    "tool_call_content_chunk" Appends,
    "terminal_update" Sets,
    "terminal_output_chunk" Appends,
    "plan" Sets,
    "plan_update" Sets,
    "plan_removed" Sets,
    "available_commands_update" Aside,
    "current_mode_update" Aside,
    "config_option_update" Aside,
    "session_info_update" Aside,
    "cursor_update" Aside,
    "prompt_suggestions_update" Sets,
    "usage_update" Aside,
    "state_update" Sets,
    "replay_complete" Sets,
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::BTreeMap;
    use std::string::String;
    use std::vec::Vec;

    use serde_json::Value;

    use super::{Change, UPDATES};

    /// The actions of each kind in the schema of a version, by the annotation `x-state`.
    fn kinds(schema: &str) -> BTreeMap<String, Vec<Value>> {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let update = &schema["$defs"]["SessionUpdate"];
        let all = update["oneOf"].as_array().or(update["anyOf"].as_array());
        let named = all.unwrap().iter().filter_map(|kind| {
            let name = kind["properties"]["sessionUpdate"]["const"].as_str()?;
            let state = kind["x-state"]["session"].as_array();
            let actions = state.into_iter().flatten();
            let actions = actions.map(|change| change["action"].clone());
            Some((name.into(), actions.collect()))
        });
        named.collect()
    }

    #[test]
    fn every_kind_of_the_schemas_has_a_row_with_the_effect_that_the_schema_gives() {
        let first = kinds(include_str!("../../messages/schema/v1.json"));
        let second = kinds(include_str!("../../messages/schema/v2.json"));
        assert!(first.len() > 10 && second.len() > 20);
        let mut all: Vec<_> = first.keys().chain(second.keys()).collect();
        all.sort_unstable();
        all.dedup();
        let mut rows = UPDATES.to_vec();
        rows.sort_unstable();
        assert_eq!(rows, all);
        for (kind, actions) in second {
            let appends = actions.iter().any(|action| action == "append");
            assert_eq!(Change::of(&kind) == Change::Appends, appends, "{kind}");
        }
    }

    #[test]
    fn a_chunk_of_a_later_protocol_appends() {
        assert_eq!(Change::of("agent_song_chunk"), Change::Appends);
        assert_eq!(Change::of("agent_song"), Change::Sets);
    }
}
