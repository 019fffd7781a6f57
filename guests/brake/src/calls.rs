//! The tool calls of a turn: which of them are counted, and how often the same one was made, or failed.
//!
//! A call is counted once: when a hook of the agent reports it, or, without hooks, when the agent first mentions it. One
//! that ends without a report, where hooks tell ids, is counted then. Where hooks tell no ids, a report is about a call
//! with the same input, however that is laid out, that was mentioned and not reported.

use std::collections::BTreeMap;
use std::mem;

use acp_chain_calls::same;
use acp_chain_calls::turns::hash;
use acp_chain_proxy::{Head, Json};

use crate::config::Repeats;
use crate::words::plural;

/// The maximum number of calls of a turn that are told apart, and of different inputs.
const MOST: usize = 4096;
/// Where agents put the exit code of a command that they call completed.
const EXIT_CODES: [&str; 3] = ["exit_code", "exitCode", "metadata/exit"];

/// Which of the calls that the agent mentions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mentions {
    /// All: no hook has reported a call.
    Count,
    /// Those that have run without a report.
    CountUnreported,
    /// None: it cannot be told which of them were reported.
    Pass,
}

/// What a message says of a call. Texts are hashes, which are never stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Call {
    id: Option<u64>,
    input: Option<u64>,
    title: Option<u64>,
    /// Whether it has failed, if it has ended.
    has_failed: Option<bool>,
    /// Whether the agent shows it for the first time, by its own account.
    is_new: bool,
    /// Whether it has yet to end.
    is_open: bool,
    /// Whether it has run to its end, though perhaps with a failure.
    has_run: bool,
}

impl Call {
    /// Reads the call at a place of a message.
    pub(crate) fn read(head: &Head, at: &str) -> Self {
        let text = |name: &str| head.read::<String>(&format!("{at}/{name}"));
        let json = |name: &str| head.read::<Json>(&format!("{at}/{name}"));
        let given = json("rawInput").filter(|input| !["null", "{}"].contains(&&*input.spelling()));
        // An id should be a text; a number is one, too. An empty text is none: models that name no ids have it in each.
        let spelt = || json("toolCallId").map(|id| id.spelling().into_owned());
        let named = text("toolCallId").or_else(|| spelt().filter(|id| id != "null"));
        let id = named.filter(|id| !id.is_empty());
        let status = text("status").unwrap_or_default();
        let exits_with_failure = |place: &&str| {
            let code = head.read::<i64>(&format!("{at}/rawOutput/{place}"));
            code.is_some_and(|code| code != 0)
        };
        Self {
            id: id.map(|id| hash(&id)),
            // Without the kind, which updates of a call need not repeat.
            input: given.map(|input| hash(&same::input(&input.spelling()))),
            title: text("title").map(|title| hash(&title)),
            has_failed: match &*status {
                "completed" => Some(EXIT_CODES.iter().any(exits_with_failure)),
                "failed" => Some(true),
                _ => None,
            },
            is_new: text("sessionUpdate").as_deref() == Some("tool_call"),
            is_open: ["pending", "in_progress"].contains(&&*status),
            has_run: status == "completed",
        }
    }

    /// Whether it names an id.
    pub(crate) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// The call that a permission request is about, in either version of the protocol.
    pub(crate) fn of_question(head: &Head) -> Self {
        let places = ["/toolCall", "/subject/toolCall", "/subject"];
        let mut calls = places.into_iter().map(|at| Self::read(head, at));
        calls.find(|call| call.id.is_some()).unwrap_or_default()
    }
}

/// The calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    by_id: BTreeMap<u64, Known>,
    /// By what makes two calls the same: the input, or else the title.
    repeated: BTreeMap<u64, Repeated>,
}

/// A call with an id.
#[derive(Debug, Default)]
struct Known {
    what: Option<u64>,
    title: Option<u64>,
    is_counted: bool,
    /// Whether it is counted among those that are the same.
    is_made: bool,
    /// Whether a hook has reported it.
    is_reported: bool,
    /// Whether it has failed, if it has ended. Some agents give the id of such a call to another one.
    has_failed: Option<bool>,
}

impl Known {
    fn has_ended(&self) -> bool {
        self.has_failed.is_some()
    }
}

/// How often a call was made, and has failed since it succeeded; and how often the limits on that were raised.
#[derive(Debug, Default)]
struct Repeated {
    numbers: [u64; 2],
    raises: [u64; 2],
}

/// Something that has happened too often.
#[derive(Clone, Debug)]
pub(crate) struct Repetition {
    pub(crate) text: String,
    what: u64,
    kind: usize,
}

impl Calls {
    /// Takes note of an update or a permission request. Returns how many calls it adds to those that were made, if a
    /// limit may be reached.
    pub(crate) fn mention(&mut self, call: &Call, mentions: Mentions) -> Option<u64> {
        let Some(id) = call.id else {
            return self.mention_unnamed(call, mentions);
        };
        let is_over = call.has_failed.is_some();
        let begins = call.is_open || (call.is_new && !is_over);
        if begins && self.by_id.get(&id).is_some_and(Known::has_ended) {
            self.by_id.remove(&id);
        }
        let is_first = !self.by_id.contains_key(&id);
        let known = bounded(&mut self.by_id, id);
        let counts = match mentions {
            Mentions::Count => is_first,
            // What is mentioned only when it ends may have been reported in an earlier turn.
            Mentions::CountUnreported => call.has_run && (call.is_new || !is_first),
            Mentions::Pass => false,
        };
        let added = u64::from(counts && !known.is_counted);
        known.is_counted |= counts;
        let fails = call.has_failed == Some(true) && known.has_failed != Some(true);
        known.has_failed = known.has_failed.max(call.has_failed);
        known.title = known.title.or(call.title);
        known.what = known.what.or(call.input);
        if call.has_failed.is_some() {
            known.what = known.what.or(known.title);
        }
        let mut may_repeat = false;
        if let Some(what) = known.what {
            let repeated = bounded(&mut self.repeated, what);
            if known.is_counted && !mem::replace(&mut known.is_made, true) {
                repeated.numbers[0] += 1;
                may_repeat = true;
            }
            if call.has_failed == Some(false) {
                (repeated.numbers[1], repeated.raises[1]) = (0, 0);
            }
            if fails {
                repeated.numbers[1] += 1;
                may_repeat = true;
            }
        }
        (added > 0 || may_repeat).then_some(added)
    }

    /// Takes note of a call that has no id, when it is shown first.
    fn mention_unnamed(&mut self, call: &Call, mentions: Mentions) -> Option<u64> {
        if mentions != Mentions::Count || !call.is_new {
            return None;
        }
        if let Some(what) = call.input.or(call.title) {
            bounded(&mut self.repeated, what).numbers[0] += 1;
        }
        Some(1)
    }

    /// Takes note of a call that a hook reports. Returns whether it was counted before: when the agent mentioned it, or
    /// by an earlier report, since a call whose input is changed is reported again.
    pub(crate) fn report(&mut self, call: &Call) -> bool {
        let mut unnamed = Known::default();
        let id = call.id.or_else(|| self.unreported(call));
        let named = id.map(|id| bounded(&mut self.by_id, id));
        let known = named.unwrap_or(&mut unnamed);
        if known.has_ended() {
            *known = Known::default();
        }
        if !mem::replace(&mut known.is_reported, true) {
            // What the agent showed before may be a part of the input only.
            let what = call.input.or(known.what).or(call.title);
            known.is_made &= known.what == what;
            known.what = what;
        }
        if let Some(what) = known.what
            && !mem::replace(&mut known.is_made, true)
        {
            bounded(&mut self.repeated, what).numbers[0] += 1;
        }
        mem::replace(&mut known.is_counted, true)
    }

    /// The call that the agent has mentioned and that this report, which names no id, is about.
    fn unreported(&self, call: &Call) -> Option<u64> {
        let what = call.input.or(call.title)?;
        let mut mentioned = self
            .by_id
            .iter()
            .filter(|(_, known)| known.what == Some(what));
        let found = mentioned.find(|(_, known)| !known.is_reported && !known.has_ended())?;
        Some(*found.0)
    }

    /// Something that has happened too often: one more call than allowed, or the last failure that is allowed.
    pub(crate) fn repetition(&self, rules: &Repeats) -> Option<Repetition> {
        self.repeated.iter().find_map(|(what, repeated)| {
            let limits = [rules.same_call, rules.same_failure];
            let is_over = |kind: &usize| {
                let raises = repeated.raises[*kind] + 1;
                let cap = limits[*kind].and_then(|limit| limit.max(1).checked_mul(raises));
                cap.is_some_and(|cap| repeated.numbers[*kind] + (*kind as u64) > cap)
            };
            let kind = (0..2).find(is_over)?;
            let times = plural(repeated.numbers[kind], "time");
            let verb = ["was made", "has failed"][kind];
            Some(Repetition {
                text: format!("the same call {verb} {times} in this turn"),
                what: *what,
                kind,
            })
        })
    }

    /// Raises the limit on this repetition by its own amount.
    pub(crate) fn raise(&mut self, repetition: &Repetition) {
        bounded(&mut self.repeated, repetition.what).raises[repetition.kind] += 1;
    }
}

/// The entry of a key. Past the limit, another is evicted.
fn bounded<V: Default>(map: &mut BTreeMap<u64, V>, key: u64) -> &mut V {
    if map.len() >= MOST && !map.contains_key(&key) {
        map.pop_first();
    }
    map.entry(key).or_default()
}
