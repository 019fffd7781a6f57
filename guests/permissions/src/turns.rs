//! What was said about tool calls before permission is requested for them.
//!
//! A call is known from its first mention until its turn ends, or until it is evicted in favour of others. Its name
//! is known for longer: more was said about a later call with the same name than is known, so such a call is unclear.
//!
//! Calls are not saved, as they are many and change often. So a restarted instance may have missed what was said
//! about a call, and treats every call as unclear until the turn of its session has ended.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use acp_chain_proxy::{Head, Response, read};

use crate::call::Call;
use crate::object::Reader;

/// How much is kept of all calls together, in bytes. The oldest is evicted first.
const MOST: usize = 4 * 1024 * 1024;
/// The longest update that is read, in bytes.
const LONGEST_UPDATE: u64 = 16 * 1024 * 1024;
/// How many names of forgotten calls are kept.
const MOST_NAMES: usize = 65_536;
/// How many names of sessions are kept.
const MOST_SESSIONS: usize = 4096;
/// The longest session name, in bytes. In a session with a longer one, every call is unclear.
const LONGEST_NAME: usize = 1024;

#[derive(Default)]
pub(crate) struct Turns(RefCell<Known>);

/// Whether a turn ended with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Open,
    Ended,
}

/// A session, and the `toolCallId`.
type Name = (String, String);

#[derive(Default)]
struct Known {
    calls: BTreeMap<Name, Call>,
    /// Their names, the oldest first.
    order: VecDeque<Name>,
    size: usize,
    /// The names of evicted calls, as hashes: a collision only makes a call unclear.
    forgotten: BTreeSet<u64>,
    /// Sessions in whose turn something was said about an unknown call.
    missed: BTreeSet<String>,
    /// If an earlier instance saw messages that this one did not: the sessions whose turn has ended since.
    ended: Option<BTreeSet<String>>,
}

impl Turns {
    /// For a restarted instance.
    pub(crate) fn late() -> Self {
        Self(RefCell::new(Known::late()))
    }

    pub(crate) fn on_update(&self, head: &Head) -> Turn {
        let named = head
            .session
            .as_ref()
            .filter(|name| name.len() <= LONGEST_NAME);
        let Some(session) = named else {
            return Turn::Open;
        };
        let Some(update) = head.read::<String>("/update/sessionUpdate") else {
            self.0.borrow_mut().miss(session);
            return Turn::Open;
        };
        match &*update {
            "tool_call" => {
                self.hear(session, head, |call, json| {
                    // Some agents number their calls from the start again in each turn.
                    if call.is_over {
                        *call = Call::default();
                    }
                    call.hear(json);
                });
            }
            "tool_call_update" => self.hear(session, head, Call::hear),
            "tool_call_content_chunk" => self.hear(session, head, Call::hear_chunk),
            "state_update" if head.is_idle() => {
                self.0.borrow_mut().end(session);
                return Turn::Ended;
            }
            _ => {}
        }
        Turn::Open
    }

    pub(crate) fn on_answer(&self, response: &Response) -> Turn {
        if let Some(session) = &response.head.session
            && session.len() <= LONGEST_NAME
            && response.ends_turn()
        {
            self.0.borrow_mut().end(session);
            return Turn::Ended;
        }
        Turn::Open
    }

    /// A session was opened: everything said about its calls so far is history.
    pub(crate) fn on_open(&self, session: &str) {
        self.0.borrow_mut().forget(session);
    }

    /// Whether the agent has mentioned a call.
    pub(crate) fn heard(&self, session: &str, id: &str) -> bool {
        let known = self.0.borrow();
        let name = (session.to_owned(), id.to_owned());
        known.calls.contains_key(&name) || known.forgotten.contains(&hash(&name))
    }

    /// What is known of a call.
    pub(crate) fn call(&self, session: &str, id: &str) -> Call {
        let known = self.0.borrow();
        let name = (session.to_owned(), id.to_owned());
        let mut call = known.calls.get(&name).cloned().unwrap_or_default();
        let is_more = known.forgotten.contains(&hash(&name)) || known.doubts(session);
        call.unclear |= is_more;
        call.has_content |= is_more;
        call
    }

    /// The command that a question of no kind is about: an open call of the session, whose title the question repeats.
    pub(crate) fn meant(&self, session: &str, question: &Call) -> Option<Call> {
        let is_other = question.kinds.iter().all(|kind| kind == "other");
        if !is_other || question.input.texts.is_empty() || !question.input.lines.is_empty() {
            return None;
        }
        let lines = question.titles.iter().flat_map(|title| title.lines());
        let texts = question.input.texts.iter().map(String::as_str);
        let said: BTreeSet<&str> = lines.chain(texts).map(str::trim).collect();
        let is_meant = |call: &Call| {
            let mut titles = call.titles.iter();
            !call.is_over
                && call.kinds.contains("execute")
                && titles.any(|title| said.contains(title.trim()))
        };
        let known = self.0.borrow();
        let mut own = known.calls.iter().filter(|((of, _), _)| of == session);
        own.find(|(_, call)| is_meant(call))
            .map(|(_, call)| call.clone())
    }

    /// An update of a call. The whole body is read, to find duplicate members.
    fn hear(&self, session: &str, head: &Head, take: impl Fn(&mut Call, &str)) {
        let mut known = self.0.borrow_mut();
        let small = head.size <= LONGEST_UPDATE;
        let body = small.then(|| read(head.id, "").ok().flatten()).flatten();
        let body = body.map(String::from).unwrap_or_default();
        let mut reader = Reader::default();
        let params = reader.object(&body);
        for update in reader.all(&params, "update") {
            let said = reader.object(update);
            reader.texts(&said, "sessionUpdate");
            let ids = reader.texts(&said, "toolCallId");
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

impl Known {
    fn late() -> Self {
        Self {
            ended: Some(BTreeSet::new()),
            ..Self::default()
        }
    }

    /// Whether something unknown may have been said about the calls of a session.
    fn doubts(&self, session: &str) -> bool {
        let late = self.ended.as_ref();
        session.len() > LONGEST_NAME
            || self.missed.contains(session)
            || late.is_some_and(|ended| !ended.contains(session))
    }

    fn change(&mut self, session: &str, id: String, change: impl FnOnce(&mut Call)) {
        let name = (session.to_owned(), id);
        let mut call = match self.calls.remove(&name) {
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
        self.calls.insert(name, call);
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
        if let Some(call) = self.calls.remove(name) {
            self.size -= size(name, &call);
            // One that is over says nothing of a later call with its name.
            if !call.is_over {
                self.forgotten.insert(hash(name));
            }
        }
    }

    /// Past the limit of names, all are dropped: then this is like a restarted instance.
    fn bound(&mut self) {
        let ended = self.ended.as_ref().map_or(0, BTreeSet::len);
        if self.forgotten.len() > MOST_NAMES || self.missed.len().max(ended) > MOST_SESSIONS {
            *self = Self::late();
        }
    }
}

fn hash(name: &Name) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The approximate size of a call, with its name in two places, in bytes.
fn size((session, id): &Name, call: &Call) -> usize {
    2 * (session.len() + id.len()) + call.size() + 512
}
