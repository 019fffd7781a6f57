//! The inputs with which tools were about to run once the proxies had decided, to be compared with those with which they
//! have run: another hook, of the user's or of a repository's, may change an input at the same moment.
//!
//! Only the last ones are kept, as hashes with a secret.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use acp_chain_channel::limits::HOOK_CALLS;
use acp_chain_hooks::Event;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct DecidedInputs {
    secret: RandomState,
    /// Those of the calls that have not ended, by their names. A model may give several calls the same id.
    inputs: HashMap<u64, Vec<u64>>,
    in_order: VecDeque<u64>,
}

impl DecidedInputs {
    /// Notes that the proxies have let a tool run with the input of this event, in this session.
    pub fn note(&mut self, session: &str, event: &Event) {
        let (Some(call), Some(input)) = (self.call(session, event), self.input(event)) else {
            return;
        };
        self.inputs.entry(call).or_default().push(input);
        self.in_order.push_back(call);
        if self.in_order.len() > HOOK_CALLS
            && let Some(first) = self.in_order.pop_front()
        {
            self.inputs.remove(&first);
        }
    }

    /// Whether a tool has run with another input than any that was noted of a call with its id.
    pub fn has_other_run(&mut self, session: &str, event: &Event) -> bool {
        let (Some(call), Some(input)) = (self.call(session, event), self.input(event)) else {
            return false;
        };
        let noted = self.inputs.get_mut(&call);
        let Some(noted) = noted.filter(|noted| !noted.is_empty()) else {
            return false;
        };
        let place = noted.iter().position(|own| *own == input);
        // Which one of several with an id has run is not known.
        noted.swap_remove(place.unwrap_or_default());
        if noted.is_empty() {
            self.inputs.remove(&call);
        }
        place.is_none()
    }

    /// The name of a call; none if the agent tells no id.
    fn call(&self, session: &str, event: &Event) -> Option<u64> {
        let call = event.call.as_deref()?;
        let name = (session, event.subagent.as_deref(), call);
        Some(self.secret.hash_one(name))
    }

    /// The input, whatever the order of its members.
    fn input(&self, event: &Event) -> Option<u64> {
        let input: Value = serde_json::from_str(&event.input).ok()?;
        Some(self.secret.hash_one(input))
    }
}

#[cfg(test)]
mod tests {
    use acp_chain_hooks::dialect;

    use super::*;

    /// The report of a call of Claude's.
    fn event(moment: &str, call: &str, input: &str) -> Event {
        let report =
            format!(r#"{{"tool_name":"Bash","tool_use_id":"{call}","tool_input":{input}}}"#);
        dialect("claude").unwrap().read(moment, &report).unwrap()
    }

    fn before(call: &str, input: &str) -> Event {
        event("PreToolUse", call, input)
    }

    fn after(call: &str, input: &str) -> Event {
        event("PostToolUse", call, input)
    }

    #[test]
    fn what_ran_is_compared_whatever_the_order_of_its_members_is() {
        let mut decided = DecidedInputs::default();
        let input = r#"{"command":"ls","timeout":1}"#;
        for (ran, expected) in [
            (input, false),
            (r#"{ "timeout":1, "command":"ls" }"#, false),
            (r#"{"command":"ls","timeout":2}"#, true),
            (r#"{"command":"rm","timeout":1}"#, true),
            (r#"{"command":"ls"}"#, true),
        ] {
            decided.note("s", &before("1", input));
            assert_eq!(
                decided.has_other_run("s", &after("1", ran)),
                expected,
                "{ran}"
            );
        }
        // Nothing is known of it any more, nor of others.
        assert!(!decided.has_other_run("s", &after("1", "{}")));
        decided.note("s", &before("1", input));
        assert!(!decided.has_other_run("s", &after("2", "{}")));
        assert!(!decided.has_other_run("t", &after("1", "{}")));
    }

    #[test]
    fn calls_with_the_same_id_are_told_apart_by_their_inputs() {
        let mut decided = DecidedInputs::default();
        let [a, b] = [r#"{"command":"a"}"#, r#"{"command":"b"}"#];
        for input in [a, b] {
            decided.note("s", &before("1", input));
        }
        for input in [b, a] {
            assert!(!decided.has_other_run("s", &after("1", input)), "{input}");
        }
    }

    #[test]
    fn only_the_last_ones_are_kept() {
        let mut decided = DecidedInputs::default();
        for number in 0..2 * HOOK_CALLS {
            decided.note("s", &before(&number.to_string(), "{}"));
        }
        assert_eq!(
            (decided.inputs.len(), decided.in_order.len()),
            (HOOK_CALLS, HOOK_CALLS)
        );
        let last = (2 * HOOK_CALLS - 1).to_string();
        assert!(decided.has_other_run("s", &after(&last, "[]")));
        assert!(!decided.has_other_run("s", &after("0", "[]")));
    }
}
