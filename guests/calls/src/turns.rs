//! The tool calls of turns, as far as updates describe them before permission is requested.
//!
//! A call is known from its first mention until its turn ends, or until it is evicted in favour of others. Its name is
//! kept for longer: a later call with the same name is unclear, since updates of it may have been evicted.
//!
//! Calls are not saved, as they are many and change often. So a restarted instance may have missed updates of a call,
//! and treats every call as unclear until the turn of its session has ended.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use acp_chain_proxy::{Head, Response, read};

use crate::call::Call;
use crate::object::Reader;

/// The maximum size of all calls together, in bytes. The oldest is evicted first.
const MOST: usize = 4 * 1024 * 1024;
/// The longest update that is read, in bytes.
const LONGEST_UPDATE: u64 = 16 * 1024 * 1024;
/// The maximum number of names of evicted calls.
const MOST_NAMES: usize = 65_536;
/// The maximum number of names of sessions.
const MOST_SESSIONS: usize = 4096;
/// The longest session name, in bytes. In a session with a longer one, every call is unclear.
const LONGEST_NAME: usize = 1024;

#[derive(Default)]
pub struct Turns(RefCell<Calls>);

/// A session, and the `toolCallId`.
type Name = (String, String);

#[derive(Default)]
struct Calls {
    by_name: BTreeMap<Name, Call>,
    /// The names of the calls, the oldest first.
    order: VecDeque<Name>,
    size: usize,
    /// The names of evicted calls, as hashes: a collision only makes a call unclear.
    forgotten: BTreeSet<u64>,
    /// Sessions whose turn had an update of an unidentified call.
    missed: BTreeSet<String>,
    /// If an earlier instance saw messages that this one did not: the sessions whose turn has ended since.
    ended: Option<BTreeSet<String>>,
}

impl Turns {
    /// The state of a restarted instance.
    pub fn after_restart() -> Self {
        Self(RefCell::new(Calls::after_restart()))
    }

    /// Returns whether the turn ends with this update. `kind` is its `sessionUpdate`, if it has one.
    pub fn on_update(&self, head: &Head, kind: Option<&str>) -> bool {
        let named = head
            .session
            .as_ref()
            .filter(|name| name.len() <= LONGEST_NAME);
        let Some(session) = named else {
            return false;
        };
        let Some(kind) = kind else {
            self.0.borrow_mut().miss(session);
            return false;
        };
        match kind {
            "tool_call" => {
                self.merge(session, head, |call, json| {
                    // Some agents number their calls from the start again in each turn.
                    if call.is_over {
                        *call = Call::default();
                    }
                    call.merge(json);
                });
            }
            "tool_call_update" => self.merge(session, head, Call::merge),
            "tool_call_content_chunk" => self.merge(session, head, Call::merge_chunk),
            "state_update" if head.is_idle() => {
                self.0.borrow_mut().end(session);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Returns whether the turn ends with this answer.
    pub fn on_answer(&self, response: &Response) -> bool {
        if let Some(session) = &response.head.session
            && session.len() <= LONGEST_NAME
            && response.ends_turn()
        {
            self.0.borrow_mut().end(session);
            return true;
        }
        false
    }

    /// A session was opened: all updates of its calls so far are history.
    pub fn on_open(&self, session: &str) {
        self.0.borrow_mut().forget(session);
    }

    /// Whether the agent has mentioned a call.
    pub fn is_known(&self, session: &str, id: &str) -> bool {
        let known = self.0.borrow();
        let name = (session.to_owned(), id.to_owned());
        known.by_name.contains_key(&name) || known.forgotten.contains(&hash(&name))
    }

    /// The merged updates of a call; unclear if some may be missing.
    pub fn call(&self, session: &str, id: &str) -> Call {
        let known = self.0.borrow();
        let name = (session.to_owned(), id.to_owned());
        let mut call = known.by_name.get(&name).cloned().unwrap_or_default();
        let is_more = known.forgotten.contains(&hash(&name)) || known.doubts(session);
        call.unclear |= is_more;
        call.has_content |= is_more;
        call
    }

    /// The command that a question without a kind is about: an unfinished call of the session, whose title the question
    /// repeats.
    pub fn command_of(&self, session: &str, question: &Call) -> Option<Call> {
        let is_other = question.kinds.iter().all(|kind| kind == "other");
        if !is_other || question.input.texts.is_empty() || !question.input.lines.is_empty() {
            return None;
        }
        let lines = question.titles.iter().flat_map(|title| title.lines());
        let texts = question.input.texts.iter().map(String::as_str);
        let question: BTreeSet<&str> = lines.chain(texts).map(str::trim).collect();
        let matches = |call: &Call| {
            let mut titles = call.titles.iter();
            !call.is_over
                && call.kinds.contains("execute")
                && titles.any(|title| question.contains(title.trim()))
        };
        let known = self.0.borrow();
        let mut own = known.by_name.iter().filter(|((of, _), _)| of == session);
        own.find(|(_, call)| matches(call))
            .map(|(_, call)| call.clone())
    }

    /// Merges an update of a call. The whole body is read, to find duplicate members.
    fn merge(&self, session: &str, head: &Head, take: impl Fn(&mut Call, &str)) {
        let mut known = self.0.borrow_mut();
        let small = head.size <= LONGEST_UPDATE;
        let body = small.then(|| read(head.id, "").ok().flatten()).flatten();
        let body = body.map(String::from).unwrap_or_default();
        let mut reader = Reader::default();
        let params = reader.object(&body);
        for update in reader.all(&params, "update") {
            let members = reader.object(update);
            reader.texts(&members, "sessionUpdate");
            let ids = reader.texts(&members, "toolCallId");
            reader.unclear |= ids.is_empty();
            for id in ids {
                known.change(session, id, |call| take(call, update));
            }
        }
        if reader.unclear {
            known.miss(session);
        }
    }
}

impl Calls {
    fn after_restart() -> Self {
        Self {
            ended: Some(BTreeSet::new()),
            ..Self::default()
        }
    }

    /// Whether updates of the session's calls may have been missed.
    fn doubts(&self, session: &str) -> bool {
        let late = self.ended.as_ref();
        session.len() > LONGEST_NAME
            || self.missed.contains(session)
            || late.is_some_and(|ended| !ended.contains(session))
    }

    fn change(&mut self, session: &str, id: String, change: impl FnOnce(&mut Call)) {
        let name = (session.to_owned(), id);
        let mut call = match self.by_name.remove(&name) {
            Some(call) => {
                self.size -= size(&name, &call);
                call
            }
            None => {
                self.order.push_back(name.clone());
                Call::default()
            }
        };
        change(&mut call);
        self.size += size(&name, &call);
        self.by_name.insert(name, call);
        while self.size > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.drop_call(&oldest);
        }
        self.bound();
    }

    fn miss(&mut self, session: &str) {
        self.missed.insert(session.to_owned());
        self.bound();
    }

    fn end(&mut self, session: &str) {
        self.forget(session);
        self.missed.remove(session);
        if let Some(ended) = &mut self.ended {
            ended.insert(session.to_owned());
        }
        self.bound();
    }

    fn forget(&mut self, session: &str) {
        let order = std::mem::take(&mut self.order).into_iter();
        let (old, order): (Vec<_>, _) = order.partition(|(of, _)| of == session);
        self.order = order.into();
        for name in &old {
            self.drop_call(name);
        }
        self.bound();
    }

    fn drop_call(&mut self, name: &Name) {
        if let Some(call) = self.by_name.remove(name) {
            self.size -= size(name, &call);
            // A finished call does not affect a later call with its name.
            if !call.is_over {
                self.forgotten.insert(hash(name));
            }
        }
    }

    /// Past the limit of names, all are dropped: the state is then that of a restarted instance.
    fn bound(&mut self) {
        let ended = self.ended.as_ref().map_or(0, BTreeSet::len);
        if self.forgotten.len() > MOST_NAMES || self.missed.len().max(ended) > MOST_SESSIONS {
            *self = Self::after_restart();
        }
    }
}

/// The hash of a name, such as that of a call.
pub fn hash(name: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The approximate size of a call, with its name in two places, in bytes.
fn size((session, id): &Name, call: &Call) -> usize {
    2 * (session.len() + id.len()) + call.size() + 512
}
