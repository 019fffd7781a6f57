//! The proof that the agent's hooks work: the signs of life that have come, the calls that were reported before they
//! ran, and the sessions in which a call ran without.
//!
//! Names come from the agent, so only the last ones are kept, as hashes with a secret: the memory is bounded, however
//! many there are and however long.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use serde_json::Value;

use super::hooks::ReportNumber;
use super::unnamed::Unnamed;
use acp_chain_channel::limits::{Charge, HOOK_NAMES};
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Message, text_member};

/// Looks at JSON text.
type Test = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Changes JSON text; `None` if there is nothing to change. Or says what is wrong with it, if anything is.
type Edit = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What the host knows about the hooks of a connection's agent.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that an agent does, or does not"
)]
pub struct HookTerms {
    /// What merges into the `_meta` of requests that set up a session, on their way to the agent.
    pub meta: Option<Value>,
    /// When they first give a sign of life.
    pub first_sign: FirstSign,
    /// Whether each session that begins gives a sign, so that one of the whole process is not enough.
    pub signs_new: bool,
    /// Whether a call that failed without a report has run. If not, the agent may have rejected it before its hook.
    pub judges_failures: bool,
    /// Whether reports name their calls as ACP does. One that does not accounts for none then.
    pub names_calls: bool,
    /// Where updates of ACP have the name of the tool (JSON Pointer), as reports have it; none if they do not.
    pub tool_at: Option<&'static str>,
    /// Whether an update of ACP (JSON text) is of a call for which the agent runs no hook.
    pub runs_no_hook: Test,
    /// A line of the agent without what the hooks have put into the commands that it shows; `None` if there is nothing
    /// of that in it.
    pub cleaned: Edit,
    /// Why hooks may not work as expected, by the agent's answer to `initialize` (JSON text): it says to be another
    /// agent, or another version.
    pub unlike: Edit,
    /// What follows then.
    pub if_unlike: IfUnlike,
    /// Whether a call without a report stops its turn. Otherwise, the user is notified once.
    pub stops: bool,
}

/// What follows if an agent says to be another one than its hooks are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfUnlike {
    /// It gets no further.
    Refuse,
    /// The user is notified, and calls without a report stop no turn.
    Tell,
}

/// When an agent's hooks first give a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstSign {
    /// While a session is set up, or shortly after.
    Session,
    /// With the first prompt, before all updates of its turn.
    Prompt,
    /// Never: the agent asks before each tool instead.
    Never,
}

/// The last [`HOOK_NAMES`] names of a kind, and the state of each.
#[derive(Default)]
struct Names<S> {
    secret: foldhash::quality::RandomState,
    states: HashMap<u64, S>,
    in_order: VecDeque<u64>,
}

impl<S: Copy> Names<S> {
    fn set(&mut self, name: &str, state: S) {
        let hash = self.secret.hash_one(name);
        if self.states.insert(hash, state).is_some() {
            return;
        }
        self.in_order.push_back(hash);
        if self.in_order.len() > HOOK_NAMES
            && let Some(first) = self.in_order.pop_front()
        {
            self.states.remove(&first);
        }
    }

    fn get(&self, name: &str) -> Option<S> {
        self.states.get(&self.secret.hash_one(name)).copied()
    }

    fn change(&mut self, name: &str, change: impl FnOnce(&mut S))
    where
        S: Default,
    {
        let mut state = self.get(name).unwrap_or_default();
        change(&mut state);
        self.set(name, state);
    }
}

/// What is known of the calls of tools with an id, which a model may give to several, one after another.
#[derive(Clone, Copy, Default)]
struct Calls {
    /// How many were reported before they ran, and have not ended.
    reported: u32,
    /// How many were refused, and have not ended. They fail.
    refused: u32,
    /// Whether the last one that the agent has shown has ended, or needs no report: it is of the history, or has no
    /// hook.
    are_settled: bool,
}

impl Calls {
    /// Takes a report for a call that has ended, if there is one. One that was refused accounts only for a call that
    /// need not have run.
    fn take_report(&mut self, need_not_have_run: bool) -> bool {
        let left = if need_not_have_run && self.refused > 0 {
            &mut self.refused
        } else {
            &mut self.reported
        };
        let is_there = *left > 0;
        *left = left.saturating_sub(1);
        is_there
    }
}

pub(super) struct Proof {
    pub terms: HookTerms,
    /// Whether the agent says to be another one, for which these hooks are not.
    is_another: bool,
    /// The sessions with a sign of life, by the agent's names.
    signed: Names<()>,
    /// The sessions that have begun and must give one, by the agent's names.
    new: Names<()>,
    /// Whether the whole process has given one.
    process_has_signed: bool,
    /// Whether prompts need no further sign: none came, and the user knows.
    needs_no_sign: bool,
    calls: Names<Calls>,
    /// The number of the last report. Proxies may be asked about one several times.
    last: ReportNumber,
    /// The reports that name no call.
    unnamed: Unnamed,
    /// The sessions in which the hooks turned out not to work, by the agent's names.
    pub broken: HashMap<Arc<str>, Charge, foldhash::quality::RandomState>,
    /// The prompts that wait for a sign of life.
    pub waiting: BTreeMap<ExchangeId, Routed>,
}

impl Proof {
    pub fn new(terms: HookTerms) -> Self {
        Self {
            terms,
            is_another: false,
            signed: Names::default(),
            new: Names::default(),
            process_has_signed: false,
            needs_no_sign: false,
            calls: Names::default(),
            last: 0,
            unnamed: Unnamed::default(),
            broken: HashMap::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// A message of the agent, as it would be if the hooks had put nothing into its commands.
    #[inline]
    pub fn cleaned(&self, message: Message) -> Message {
        match (self.terms.cleaned)(message.line()) {
            Some(line) => Message::parse(line.into()).unwrap_or(message),
            None => message,
        }
    }

    /// Looks at the agent's answer to `initialize`. Returns why its hooks may not work as expected, if that is not
    /// known already.
    pub fn note_agent(&mut self, answer: &str) -> Option<String> {
        let why = (self.terms.unlike)(answer).filter(|_| self.terms.stops)?;
        self.is_another = self.terms.if_unlike == IfUnlike::Refuse;
        self.terms.stops = self.is_another;
        Some(why)
    }

    /// Whether the agent gets no further, as it is another one than its hooks are for.
    pub const fn is_another(&self) -> bool {
        self.is_another
    }

    /// What precedes each call.
    pub fn precedent(&self) -> &'static str {
        match self.terms.first_sign {
            FirstSign::Session | FirstSign::Prompt => "its hook",
            FirstSign::Never => "asking",
        }
    }

    /// Notes a sign of life of this session, or of the whole process.
    pub fn note_sign(&mut self, session: Option<&str>) {
        match session {
            Some(session) => self.signed.set(session, ()),
            None => self.process_has_signed = true,
        }
    }

    /// Notes that prompts need no further sign.
    pub const fn need_no_sign(&mut self) {
        self.needs_no_sign = true;
    }

    /// Notes that a session has begun, which was not there before.
    pub fn note_new(&mut self, session: &str) {
        if self.terms.signs_new {
            self.new.set(session, ());
        }
    }

    /// Whether a session needs a sign, which first comes like this, and has not given one.
    pub fn awaits_sign(&self, first: FirstSign, session: Option<&str>) -> bool {
        let is_in = |names: &Names<()>| session.is_some_and(|session| names.get(session).is_some());
        let has_signed = || is_in(&self.signed) || self.process_has_signed && !is_in(&self.new);
        self.terms.first_sign == first && !self.needs_no_sign && !has_signed()
    }

    /// The waiting prompts that may go on, in order.
    pub fn free(&self) -> Vec<ExchangeId> {
        let free = self.waiting.iter().filter(|(_, prompt)| {
            let session = prompt.session();
            !self.awaits_sign(FirstSign::Session, session.map(|session| &**session))
        });
        free.map(|(number, _)| *number).collect()
    }

    /// The waiting prompts of a session, in order.
    pub fn waiting_in(&self, session: &Arc<str>) -> Vec<ExchangeId> {
        let all = self.waiting.iter();
        let own = all.filter(|(_, prompt)| prompt.session() == Some(session));
        own.map(|(number, _)| *number).collect()
    }

    /// Notes a report; whether it is a further one.
    pub fn is_new(&mut self, report: ReportNumber) -> bool {
        let is_new = report > self.last;
        self.last = self.last.max(report);
        is_new
    }

    /// Notes that the call with this id is about to run.
    pub fn note_call(&mut self, call: &str) {
        self.calls.change(call, |known| {
            known.reported = known.reported.saturating_add(1);
        });
    }

    /// Notes a report that names no call: a tool is about to run with this input (JSON text), or with another one than
    /// the report said before.
    pub fn note_unnamed(&mut self, report: ReportNumber, session: &str, tool: &str, input: &str) {
        if !self.terms.names_calls {
            self.unnamed.report(report, session, tool, input);
        }
    }

    /// Notes that a report is refused, of the call with this id if it names one: the call does not run.
    pub fn note_refusal(&mut self, report: ReportNumber, call: Option<&str>) {
        let Some(call) = call else {
            return self.unnamed.refuse(report);
        };
        self.calls.change(call, |known| {
            known.reported = known.reported.saturating_sub(1);
        });
        self.note_refused_call(call);
    }

    /// Notes that the call with this id is refused, of whose report nothing else is known.
    pub fn note_refused_call(&mut self, call: &str) {
        self.calls.change(call, |known| {
            known.refused = known.refused.saturating_add(1);
        });
    }

    /// Notes that a turn of a session has ended.
    pub fn note_end(&mut self, session: &str) {
        self.unnamed.end_turn(session);
    }

    /// Notes that a call needs no report.
    pub fn excuse(&mut self, call: Option<&str>) {
        if let Some(call) = call {
            self.calls.change(call, |known| known.are_settled = true);
        }
    }

    /// Notes that the agent asks about the call with this id, of which it tells this (JSON text). What it asks about
    /// without having shown a call is no call: a question of a server, for example.
    pub fn note_question(&mut self, session: &str, call: &str, about: &str) {
        if self.calls.get(call).is_none() {
            self.note_call(call);
        } else if !self.terms.names_calls {
            self.unnamed.ask(session, call, about, self.terms.tool_at);
        }
    }

    /// Whether an update (JSON text) shows the end of a call of this session that should have been reported before, and
    /// was not. `is_stopped` says whether the client has stopped the turn: calls that have not run yet fail with it.
    pub fn lacks_report(
        &mut self,
        session: &str,
        call: Option<&str>,
        update: &str,
        is_stopped: bool,
    ) -> bool {
        let mut known = call
            .and_then(|call| self.calls.get(call))
            .unwrap_or_default();
        let has_failed = match text_member(update, "status").as_deref() {
            Some("completed") => Some(false),
            Some("failed") => Some(true),
            _ => None,
        };
        let is_shown_first = text_member(update, "sessionUpdate").as_deref() == Some("tool_call");
        if has_failed.is_none() && is_shown_first {
            known.are_settled = false;
        }
        if known.are_settled {
            return false;
        }
        let (name, tool_at) = (call.unwrap_or_default(), self.terms.tool_at);
        let lacks = match has_failed {
            _ if (self.terms.runs_no_hook)(update) => {
                known.are_settled = true;
                false
            }
            None => {
                if !self.terms.names_calls {
                    self.unnamed.show(session, name, update, tool_at);
                }
                false
            }
            Some(has_failed) => {
                let was_named = known.take_report(has_failed || is_stopped);
                let unnamed = &mut self.unnamed;
                let was_reported =
                    was_named || unnamed.end(session, name, update, tool_at, has_failed);
                let is_judged = !has_failed || self.terms.judges_failures;
                known.are_settled = was_named || is_judged;
                is_judged && !was_reported && !(has_failed && is_stopped)
            }
        };
        if let Some(call) = call {
            self.calls.set(call, known);
        }
        lacks
    }

    pub fn is_broken(&self, session: &str) -> bool {
        self.is_another || self.broken.contains_key(session)
    }
}

#[cfg(test)]
mod tests {
    use super::{HOOK_NAMES, Names};

    #[test]
    fn only_the_last_names_are_kept() {
        let mut names = Names::<()>::default();
        for number in 0..2 * HOOK_NAMES {
            names.set(&number.to_string(), ());
            names.set("0", ());
        }
        assert_eq!(
            (names.states.len(), names.in_order.len()),
            (HOOK_NAMES, HOOK_NAMES)
        );
        let last = (2 * HOOK_NAMES - 1).to_string();
        assert!(names.get(&last).is_some() && names.get("1").is_none());
    }
}
