//! Reports that do not name their calls, as those of some agents. Which call a report is of is known by the session, the
//! tool, where the agent tells it, and the input.
//!
//! A report accounts for one call that has run: not for one that failed or was refused, nor for one that is shown first
//! in a later turn. The last ones are kept, as hashes with a secret, so that the memory is bounded.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hash};

use serde_json::Value;

use super::hooks::ReportNumber;
use acp_chain_channel::limits::HOOK_CALLS;
use acp_chain_rpc::{member, text_member, value_at};

/// A report whose call has not ended.
struct Report {
    number: ReportNumber,
    session: u64,
    tool: u64,
    /// The input that was reported.
    input: u64,
    /// The one that the proxies have put into its place: agents show either.
    changed: Option<u64>,
    /// Whether its turn has ended.
    is_earlier: bool,
}

/// A call that the agent has shown, and not its end.
struct Shown {
    session: u64,
    call: u64,
    tool: Option<u64>,
    /// The input, as soon as it is shown.
    input: Option<u64>,
    /// The input as a permission request spells it: some agents add members to it there, or leave some out.
    asked: Option<u64>,
    /// Whether its turn has ended.
    is_earlier: bool,
}

impl Shown {
    fn has_input(&self) -> bool {
        self.input.is_some() || self.asked.is_some()
    }
}

/// The reports, and the calls, in order.
#[derive(Default)]
pub(super) struct Unnamed {
    secret: foldhash::quality::RandomState,
    reports: VecDeque<Report>,
    shown: VecDeque<Shown>,
}

impl Report {
    /// Whether it has the input of a call, in one of its spellings.
    fn has_input_of(&self, call: &Shown) -> bool {
        let mut spelt = call.input.into_iter().chain(call.asked);
        spelt.any(|input| self.input == input || self.changed == Some(input))
    }

    /// Whether it may be of a call, whatever the input of that is.
    fn may_be_of(&self, call: &Shown) -> bool {
        self.session == call.session
            && call.tool.is_none_or(|tool| tool == self.tool)
            && (call.is_earlier || !self.is_earlier)
    }
}

impl Unnamed {
    /// Notes a report of a tool and its input (JSON text), or another input for a report that is known.
    pub fn report(&mut self, number: ReportNumber, session: &str, tool: &str, input: &str) {
        let input = self.hash(&parsed(input));
        let mut known = self.reports.iter_mut();
        if let Some(known) = known.find(|report| report.number == number) {
            known.changed = Some(input);
            return;
        }
        let report = Report {
            number,
            session: self.hash(session),
            tool: self.hash(tool),
            input,
            changed: None,
            is_earlier: false,
        };
        keep(&mut self.reports, report);
    }

    /// Notes that the call of a report does not run.
    pub fn refuse(&mut self, number: ReportNumber) {
        self.reports.retain(|report| report.number != number);
    }

    /// Notes what the agent tells about a call in an update (JSON text), with the tool at this pointer.
    pub fn show(&mut self, session: &str, call: &str, about: &str, tool_at: Option<&str>) {
        let new = self.shown(session, call, about, tool_at);
        // A model may give the id of a call that runs to another one.
        let known = self.place(&new).filter(|_| !is_first(about));
        let Some(at) = known else {
            return keep(&mut self.shown, new);
        };
        let known = &mut self.shown[at];
        known.tool = new.tool.or(known.tool);
        known.input = new.input.or(known.input);
    }

    /// Notes what the agent tells about a call in a permission request (JSON text).
    pub fn ask(&mut self, session: &str, call: &str, about: &str, tool_at: Option<&str>) {
        let new = self.shown(session, call, about, tool_at);
        let asked = Shown {
            input: None,
            asked: new.input,
            ..new
        };
        let Some(at) = self.place(&asked) else {
            return keep(&mut self.shown, asked);
        };
        let known = &mut self.shown[at];
        known.tool = asked.tool.or(known.tool);
        known.asked = asked.asked.or(known.asked);
    }

    /// Handles the end of a call in an update (JSON text). Returns whether a report accounts for it; one is taken if
    /// the call has run, or cannot run any more.
    pub fn end(
        &mut self,
        session: &str,
        call: &str,
        update: &str,
        tool_at: Option<&str>,
        has_failed: bool,
    ) -> bool {
        let last = self.shown(session, call, update, tool_at);
        let known = self.place(&last).and_then(|at| self.shown.remove(at));
        let ended = Shown {
            tool: last.tool.or(known.as_ref().and_then(|known| known.tool)),
            input: last.input.or(known.as_ref().and_then(|known| known.input)),
            asked: known.as_ref().and_then(|known| known.asked),
            is_earlier: known.is_some_and(|known| known.is_earlier),
            ..last
        };
        let Some(at) = self.report_of(&ended) else {
            return false;
        };
        // One that failed may be one that the agent itself has rejected, while the report is of another one that runs.
        let may_be_of_another = !ended.has_input() || self.is_awaited(&self.reports[at]);
        if !(has_failed && may_be_of_another) {
            self.reports.remove(at);
        }
        true
    }

    /// Notes the end of a turn: what is shown first from now on needs a report of its own.
    pub fn end_turn(&mut self, session: &str) {
        let session = self.hash(session);
        for report in &mut self.reports {
            report.is_earlier |= report.session == session;
        }
        for call in &mut self.shown {
            call.is_earlier |= call.session == session;
        }
    }

    /// The place of the report of a call. If the agent does not show the call's input, it is one that no other call
    /// needs.
    fn report_of(&self, call: &Shown) -> Option<usize> {
        self.reports.iter().position(|report| {
            report.may_be_of(call)
                && if call.has_input() {
                    report.has_input_of(call)
                } else {
                    !self.is_awaited(report)
                }
        })
    }

    /// Whether there are at least as many calls with the input of a report as there are reports of it.
    fn is_awaited(&self, report: &Report) -> bool {
        let is_of = |call: &&Shown| report.has_input_of(call) && report.may_be_of(call);
        let calls = self.shown.iter().filter(is_of);
        let same = self.reports.iter().filter(|other| {
            (other.session, other.tool, other.input) == (report.session, report.tool, report.input)
        });
        calls.count() >= same.count()
    }

    fn shown(&self, session: &str, call: &str, about: &str, tool_at: Option<&str>) -> Shown {
        let tool: Option<String> = tool_at.and_then(|pointer| value_at(about, pointer));
        let input = member(about, "rawInput").map(parsed);
        // Some agents show a call before they know its input.
        let input = input.filter(|input| !is_empty(input));
        Shown {
            session: self.hash(session),
            call: self.hash(call),
            tool: tool.map(|tool| self.hash(&*tool)),
            input: input.map(|input| self.hash(&input)),
            asked: None,
            is_earlier: false,
        }
    }

    /// The place of the last call with the session and the id of this one.
    fn place(&self, call: &Shown) -> Option<usize> {
        let mut known = self.shown.iter();
        known.rposition(|known| (known.session, known.call) == (call.session, call.call))
    }

    fn hash(&self, value: &(impl Hash + ?Sized)) -> u64 {
        self.secret.hash_one(value)
    }
}

/// Whether an update (JSON text) is the first of its call.
fn is_first(update: &str) -> bool {
    text_member(update, "sessionUpdate").as_deref() == Some("tool_call")
}

/// A value, whatever the order of its members; a text that cannot be read, as it is.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::from(json))
}

fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn keep<T>(all: &mut VecDeque<T>, new: T) {
    if all.len() >= HOOK_CALLS {
        all.pop_front();
    }
    all.push_back(new);
}

#[cfg(test)]
mod tests {
    use super::{HOOK_CALLS, Unnamed};

    const RUNS: &str = r#"{"sessionUpdate":"tool_call","rawInput":{"command":"a"}}"#;
    const ENDS: &str = r#"{"sessionUpdate":"tool_call_update"}"#;

    #[test]
    fn only_the_last_reports_and_calls_are_kept() {
        let mut unnamed = Unnamed::default();
        for number in 0..HOOK_CALLS + 2 {
            unnamed.report(number as u64, "s", "t", &number.to_string());
            unnamed.show("s", &number.to_string(), RUNS, None);
        }
        let kept = (unnamed.reports.len(), unnamed.shown.len());
        assert_eq!(kept, (HOOK_CALLS, HOOK_CALLS));
    }

    #[test]
    fn an_input_is_the_same_in_any_order_of_its_members() {
        let mut unnamed = Unnamed::default();
        unnamed.report(1, "s", "t", r#"{"b":[1,{"d":2,"c":3}],"a":0}"#);
        let update = r#"{"rawInput":{"a":0, "b":[1,{"c":3,"d":2}]}}"#;
        assert!(!unnamed.end("s", "c", r#"{"rawInput":{"a":1}}"#, None, false));
        assert!(unnamed.end("s", "c", update, None, false));
        assert!(!unnamed.end("s", "c", update, None, false));
    }

    #[test]
    fn a_call_that_the_agent_rejects_takes_no_report_from_one_that_runs() {
        let mut unnamed = Unnamed::default();
        unnamed.show("s", "runs", RUNS, None);
        unnamed.report(1, "s", "t", r#"{"command":"a"}"#);
        unnamed.show("s", "rejected", RUNS, None);
        unnamed.end("s", "rejected", ENDS, None, true);
        assert!(unnamed.end("s", "runs", ENDS, None, false));
        // One that runs and fails takes its own.
        unnamed.show("s", "fails", RUNS, None);
        unnamed.report(2, "s", "t", r#"{"command":"a"}"#);
        unnamed.end("s", "fails", ENDS, None, true);
        unnamed.show("s", "silent", RUNS, None);
        assert!(!unnamed.end("s", "silent", ENDS, None, false));
    }
    #[test]
    fn a_question_may_spell_the_input_in_another_way() {
        let asks = r#"{"rawInput":{"command":"a","commands":["a"]}}"#;
        for reported in [r#"{"command":"a"}"#, r#"{"commands":["a"],"command":"a"}"#] {
            let mut unnamed = Unnamed::default();
            unnamed.show("s", "c", RUNS, None);
            unnamed.report(1, "s", "t", reported);
            unnamed.ask("s", "c", asks, None);
            assert!(unnamed.end("s", "c", ENDS, None, false), "{reported}");
            assert!(!unnamed.end("s", "c", ENDS, None, false), "{reported}");
        }
        let mut unnamed = Unnamed::default();
        unnamed.show("s", "c", RUNS, None);
        unnamed.report(1, "s", "t", r#"{"command":"b"}"#);
        unnamed.ask("s", "c", asks, None);
        assert!(!unnamed.end("s", "c", ENDS, None, false));
    }
}
