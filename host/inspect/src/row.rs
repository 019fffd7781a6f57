//! The row of a line, which the page receives: only numbers, besides a short text of it, so that a hundred thousand
//! lines load within a second.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use acp_chain_acp::PROMPT;
use acp_chain_trace::{Decision, Kind, Line, State, Would};

use crate::said::{Members, items, one_line, string};

/// The number of columns, in the order of `model.js`.
pub const COLUMNS: usize = 16;

/// The maximum length of a turn's title, taken from its prompt, in characters.
const TITLE: usize = 100;

/// The kind of a line, in the numbers of `model.js`.
fn what(line: &Line) -> u8 {
    if let Some((_, _, kind)) = line.crossed() {
        return match kind {
            Kind::Request => 0,
            Kind::Notification => 1,
            Kind::Response => 2,
        };
    }
    if line.decided().is_some() {
        3
    } else if line.version.is_some() {
        5
    } else if line.dropped.is_some() {
        6
    } else if line.state.is_some() {
        7
    } else if line.is_end() {
        8
    } else if line.would.is_some() {
        9
    } else {
        4
    }
}

fn decision(decision: Decision) -> i64 {
    match decision {
        Decision::Forward => 1,
        Decision::Change => 2,
        Decision::Refuse => 3,
        Decision::Answer => 4,
        Decision::Discard => 5,
        Decision::Hold => 6,
        Decision::Fail => 7,
        Decision::Expire => 8,
        Decision::Unknown => 0,
    }
}

fn would(would: Would) -> i64 {
    match would {
        Would::Change => 1,
        Would::Refuse => 2,
        Would::Answer => 3,
        Would::Discard => 4,
        Would::Hold => 5,
        Would::Fail => 6,
        Would::Expire => 7,
        Would::Send => 8,
        Would::Unknown => 0,
    }
}

/// The flags of a line: the answer is an error; calls were denied, invalid, or past a limit; a proxy's state; no answer
/// to the request is recorded.
fn flags(line: &Line) -> i64 {
    let set = |is: bool, flag: i64| if is { flag } else { 0 };
    let counted = |count: Option<u64>| count.is_some_and(|count| count > 0);
    set(line.error.is_some(), 1)
        | set(counted(line.denied), 2)
        | set(counted(line.invalid), 4)
        | set(counted(line.full), 8)
        | set(line.state == Some(State::Failed), 16)
        | set(line.state == Some(State::Ended), 32)
        | set(line.state == Some(State::Asleep), 64)
        | set(line.is_hosts_own(), 128)
}

/// The names of a line, as numbers.
pub struct Numbers {
    /// None if the line is about all of them.
    pub connection: Option<u32>,
    pub from: u32,
    pub to: u32,
    pub method: u32,
    pub session: u32,
    /// The kind of the message within its method.
    pub kind: u32,
}

/// The row of a line. Missing values are -1.
pub fn row(number: usize, line: &Line, names: &Numbers) -> [i64; COLUMNS] {
    let count = |count: Option<u64>| count.map_or(-1, |count| i64::try_from(count).unwrap_or(-1));
    let to = match (line.decided(), line.would) {
        (Some((_, decided)), _) => decision(decided),
        (None, Some(spared)) => would(spared),
        (None, None) => i64::from(names.to),
    };
    [
        i64::try_from(number).unwrap_or(-1),
        micros(&line.time),
        names.connection.map_or(-1, i64::from),
        i64::from(what(line)),
        i64::from(names.from),
        to,
        i64::from(names.method),
        i64::from(names.session),
        count(line.message),
        count(line.request),
        count(line.waited.or(line.worked)),
        count(line.held.or(line.restarts)),
        count(line.size.or(line.dropped).or(line.memory)),
        flags(line),
        sum(line.body()),
        i64::from(names.kind),
    ]
}

/// Microseconds since 1970.
pub fn micros(time: &str) -> i64 {
    let time = humantime::parse_rfc3339(time).ok();
    let since = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(-1, |since| i64::try_from(since.as_micros()).unwrap_or(-1))
}

/// A 32-bit hash of a body, to compare bodies.
fn sum(body: Option<&str>) -> i64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body.unwrap_or_default().as_bytes());
    i64::from(u32::try_from(hasher.finish() >> 32).unwrap_or_default())
}

/// The beginning of a client's prompt: the title of its turn.
pub fn title(line: &Line) -> Option<String> {
    let asks = line.kind == Some(Kind::Request)
        && line.from.as_deref() == Some("client")
        && line.method.as_deref() == Some(PROMPT);
    let prompt = Members::of_body(asks.then_some(line)?).prompt;
    let mut blocks = items(prompt).into_iter();
    let text = blocks.find_map(|block| string(Members::of(Some(block)).text));
    Some(one_line(&text.unwrap_or_default(), TITLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prompt_gives_its_turn_a_title() {
        let title = |line: &str| title(&serde_json::from_str(line).unwrap());
        let line =
            r#"{"from":"client","to":"a","kind":"request","method":"session/prompt","params":P}"#;
        let with = |params: &str| title(&line.replace('P', params));
        assert_eq!(
            with(r#"{"prompt":[{"type":"image"},{"text":" a\n b "}]}"#).as_deref(),
            Some("a b")
        );
        for params in [
            "null",
            "[]",
            r#"{"prompt":7}"#,
            r#"{"prompt":[{"text":1}]}"#,
        ] {
            assert_eq!(with(params).as_deref(), Some(""), "{params}");
        }
        let others = line.replace("client", "agent").replace('P', "{}");
        assert_eq!(title(&others), None);
    }
}
