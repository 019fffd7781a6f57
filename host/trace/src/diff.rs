//! The differences between two runs, by session and turn, ignoring ids and times.
//!
//! Messages may overtake each other in a chain. So the order is compared only at each place: of the messages between
//! the same two parts, and of a proxy's decisions on the same method.

use acp_chain_acp::PROMPT;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use serde_json::Value;
use similar::{Algorithm, ChangeTag, capture_diff_slices_deadline};

use crate::Line;

/// How many bytes of a long body are shown, followed by a hash of the rest.
const SHOWN: usize = 2000;

/// How long to search for the shortest difference of a turn.
const PATIENCE: Duration = Duration::from_secs(2);

/// The comparable parts of a run: the messages in each turn of each session.
#[derive(Debug, Default)]
pub struct Run {
    turns: Vec<(Turn, Vec<Step>)>,
    places: HashMap<Turn, usize>,
    sessions: HashMap<(String, String), usize>,
    /// The number of turns that have begun, by session.
    begun: HashMap<usize, usize>,
    ids: HashMap<String, usize>,
}

/// A turn of a session. Turns and sessions are counted from 1, in the order in which they begin. Session 0 has lines
/// without a session, and turn 0 those before the first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    pub session: usize,
    pub turn: usize,
}

/// An event, and the place at which its order matters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    place: String,
    text: String,
}

/// Which of the runs have a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Only the first run.
    First,
    /// Only the second run.
    Second,
    Both,
}

/// A turn in which the runs differ.
#[derive(Debug)]
pub struct Difference {
    pub turn: Turn,
    /// The steps of both runs, in the order of the first run where possible.
    pub steps: Vec<(Side, String)>,
}

impl Run {
    /// Adds a line.
    pub fn take(&mut self, line: &Line) {
        let method = line.method.as_deref().unwrap_or_default();
        // What is stored comes from earlier runs, and its versions always differ.
        if matches!(method, "load-value" | "store-value") {
            return;
        }
        let (place, text) = match (line.crossed(), line.decided()) {
            (Some((from, to, kind)), _) => {
                let what = match (line.error.is_some(), line.result.is_some()) {
                    (true, _) => "error",
                    (_, true) => "result",
                    _ => kind.as_str(),
                };
                let body = line.body().map_or(String::new(), |body| self.same(body));
                let place = format!("{from} → {to}");
                let text = format!("{place}: {what} {method} {body}");
                (place, text)
            }
            (None, Some((proxy, decision))) => {
                let why = line
                    .why
                    .as_ref()
                    .map_or(String::new(), |why| format!(": {why}"));
                let text = format!("{proxy}: {} {method}{why}", decision.as_str());
                (format!("{proxy} {method}"), text)
            }
            // Starts, ends and memory vary like times.
            (None, None) => match (&line.proxy, line.state, &line.why) {
                (Some(proxy), Some(state), Some(why)) => {
                    let text = format!("{proxy}: {} {why}", state.as_str());
                    (proxy.clone(), text)
                }
                _ => return,
            },
        };
        let session = match &line.session {
            Some(session) => {
                let next = self.sessions.len() + 1;
                let key = (line.connection.clone(), session.clone());
                *self.sessions.entry(key).or_insert(next)
            }
            None => 0,
        };
        let begun = self.begun.entry(session).or_default();
        let is_prompt = line.from.as_deref() == Some("client") && method == PROMPT;
        if is_prompt && line.kind == Some(crate::Kind::Request) {
            *begun += 1;
        }
        let turn = Turn {
            session,
            turn: *begun,
        };
        let index = *self.places.entry(turn).or_insert_with(|| {
            self.turns.push((turn, Vec::new()));
            self.turns.len() - 1
        });
        self.turns[index].1.push(Step { place, text });
    }

    /// A body without the values that vary between runs.
    fn same(&mut self, body: &str) -> String {
        let mut text = match serde_json::from_str::<Value>(body) {
            Ok(mut value) => {
                self.rename("", &mut value);
                value.to_string()
            }
            Err(_) => body.to_owned(),
        };
        if text.len() > SHOWN {
            let end = text.floor_char_boundary(SHOWN);
            let mut hasher = DefaultHasher::new();
            text[end..].hash(&mut hasher);
            let rest = text.len() - end;
            text.truncate(end);
            let hash = hasher.finish();
            text = format!("{text}… ({rest} bytes more, {hash:016x})");
        }
        text
    }

    /// Replaces ids and times, recognized by the names of their members, with the same names in both runs.
    fn rename(&mut self, member: &str, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.rename(name, value);
                }
            }
            Value::Array(values) => {
                for value in values {
                    self.rename("", value);
                }
            }
            Value::String(_) | Value::Number(_) if is_id(member) => {
                let next = self.ids.len() + 1;
                let number = self.ids.entry(value.to_string()).or_insert(next);
                *value = Value::String(format!("id-{number}"));
            }
            Value::String(_) | Value::Number(_) if is_time(member) => {
                *value = Value::String("time".to_owned());
            }
            _ => {}
        }
    }
}

/// Whether the member of this name is an id, which differs between runs.
pub fn is_id(member: &str) -> bool {
    member == "id" || member.ends_with("Id") || member.ends_with("_id")
}

/// Whether the member of this name is a time.
pub fn is_time(member: &str) -> bool {
    member.ends_with("At") || member == "timestamp" || member == "time"
}

/// The turns in which two runs differ, in order of beginning.
pub fn diff(first: &Run, second: &Run) -> Vec<Difference> {
    let only = |turn: &&(Turn, Vec<Step>)| !first.places.contains_key(&turn.0);
    let turns = first.turns.iter().chain(second.turns.iter().filter(only));
    let differences = turns.filter_map(|(turn, _)| {
        let steps = |run: &Run| match run.places.get(turn) {
            Some(place) => run.turns[*place].1.clone(),
            None => Vec::new(),
        };
        let steps = compare(&steps(first), &steps(second));
        let differ = steps.iter().any(|(side, _)| *side != Side::Both);
        differ.then_some(Difference { turn: *turn, steps })
    });
    differences.collect()
}

/// The steps of both runs, in the order of the first. Steps of only the second are inserted at their places.
fn compare(first: &[Step], second: &[Step]) -> Vec<(Side, String)> {
    let deadline = Instant::now() + PATIENCE;
    let mut places = BTreeMap::<&str, [Vec<usize>; 2]>::new();
    for (run, steps) in [first, second].into_iter().enumerate() {
        for (index, step) in steps.iter().enumerate() {
            places.entry(&step.place).or_default()[run].push(index);
        }
    }
    let mut steps = Vec::new();
    for [in_first, in_second] in places.values() {
        let before: Vec<_> = in_first.iter().map(|step| &*first[*step].text).collect();
        let after: Vec<_> = in_second.iter().map(|step| &*second[*step].text).collect();
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline));
        // A step of the first run, and whether the current step is before it, at it, or after it.
        let mut next_to = (in_first.first().copied().unwrap_or(usize::MAX), 0);
        for change in ops.iter().flat_map(|op| op.iter_changes(&before, &after)) {
            let side = match change.tag() {
                ChangeTag::Equal => Side::Both,
                ChangeTag::Delete => Side::First,
                ChangeTag::Insert => Side::Second,
            };
            let at = match (change.old_index(), change.new_index()) {
                (Some(own), _) => {
                    next_to = (in_first[own], 2);
                    (in_first[own], 1, 0)
                }
                (None, added) => (
                    next_to.0,
                    next_to.1,
                    added.map_or(0, |added| in_second[added]),
                ),
            };
            steps.push((at, side, change.value()));
        }
    }
    steps.sort_by_key(|(at, ..)| *at);
    let steps = steps.into_iter();
    let told = steps.map(|(.., side, text)| (side, text.to_owned()));
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    fn run(trace: &str) -> Run {
        let mut run = Run::default();
        for line in Reader::new(trace.as_bytes()) {
            run.take(&line.unwrap().1);
        }
        run
    }

    const FIRST: &str = r#"
{"time":"1","connection":"x","from":"client","to":"agent","kind":"request","request":1,"method":"session/new","params":{}}
{"time":"2","connection":"x","from":"agent","to":"client","kind":"response","request":1,"method":"session/new","result":{"sessionId":"s1"}}
{"time":"3","connection":"x","from":"client","to":"p","kind":"request","request":2,"method":"session/prompt","session":"s1","params":{"sessionId":"s1","prompt":[{"text":"hi"}]}}
{"time":"4","connection":"x","proxy":"p","decision":"change","request":2,"method":"session/prompt","session":"s1"}
{"time":"5","connection":"x","from":"p","to":"agent","kind":"request","request":2,"method":"session/prompt","session":"s1","params":{"sessionId":"s1","prompt":[{"text":"HI"}]}}
"#;

    #[test]
    fn ids_times_and_the_order_of_members_are_ignored() {
        let second = FIRST
            .replace("\"x\"", "\"other\"")
            .replace("\"time\":\"", "\"time\":\"9")
            .replace("s1", "s2")
            .replace(
                "{\"sessionId\":\"s2\",\"prompt\":[{\"text\":\"hi\"}]}",
                "{\"prompt\":[{\"text\":\"hi\"}],\"sessionId\":\"s2\"}",
            );
        assert!(diff(&run(FIRST), &run(&second)).is_empty());
    }

    #[test]
    fn the_order_of_messages_matters_only_at_the_same_place() {
        let said = |from: &str, to: &str, text: &str| {
            format!(
                r#"{{"connection":"x","from":"{from}","to":"{to}","kind":"notification","method":"session/update","session":"s1","params":{{"text":"{text}"}}}}"#
            )
        };
        let [one, passed] =
            ["one", "two"].map(|text| [said("agent", "p", text), said("p", "client", text)]);
        let [[a, b], [c, d]] = [one, passed];
        let trace = |lines: [&String; 4]| lines.map(|line| format!("{line}\n")).concat();
        let first = run(&trace([&a, &b, &c, &d]));
        assert!(diff(&first, &run(&trace([&a, &c, &b, &d]))).is_empty());
        let turned = diff(&first, &run(&trace([&a, &c, &d, &b])));
        assert_eq!(turned.len(), 1);
        let steps = turned[0].steps.iter();
        let sides: Vec<_> = steps
            .map(|(side, text)| (*side, text.contains("one")))
            .collect();
        assert_eq!(
            sides,
            [
                (Side::Both, true),
                (Side::Second, false),
                (Side::Both, true),
                (Side::Both, false),
                (Side::First, false)
            ]
        );
    }

    #[test]
    fn differences_have_their_session_and_turn() {
        let second = FIRST.replace("HI", "ho");
        let differences = diff(&run(FIRST), &run(&second));
        assert_eq!(differences.len(), 1);
        let turn = Turn {
            session: 1,
            turn: 1,
        };
        assert_eq!(differences[0].turn, turn);
        let only = |side| {
            let steps = differences[0].steps.iter();
            let mut of = steps.filter(move |(of, _)| *of == side);
            of.next().map(|(_, step)| step.clone()).unwrap()
        };
        assert!(only(Side::First).contains("\"HI\"") && only(Side::Second).contains("\"ho\""));
        assert!(only(Side::Both).starts_with("client → p: request session/prompt"));
    }

    #[test]
    fn the_cause_of_a_failure_is_a_difference_and_memory_is_not() {
        let states = r#"
{"connection":"x","proxy":"p","state":"running","restarts":0,"memory":1}
{"connection":"x","proxy":"p","state":"running","restarts":0,"memory":2}
"#;
        let broke = r#"{"connection":"x","proxy":"p","state":"failed","why":"it broke"}"#;
        let with = |more: &str| run(&format!("{FIRST}{more}"));
        assert!(diff(&run(FIRST), &with(states)).is_empty());
        let differences = diff(&with(states), &with(broke));
        let steps = &differences[0].steps;
        assert!(
            steps.contains(&(Side::Second, "p: failed it broke".to_owned())),
            "{steps:?}"
        );
    }

    #[test]
    fn a_turn_that_one_run_lacks_is_a_difference() {
        let lines: Vec<_> = FIRST.lines().take(3).collect();
        let shorter = lines.join("\n");
        for (first, second) in [(FIRST, &*shorter), (&*shorter, FIRST)] {
            assert_eq!(diff(&run(first), &run(second)).len(), 1);
        }
    }
}
