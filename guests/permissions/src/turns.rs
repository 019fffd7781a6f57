//! The tool calls of the turns that are under way: a permission request may name a call whose
//! title, kind and paths were sent earlier.
//!
//! Calls are not saved, for there are many and they change often. So an instance that starts later
//! may have missed what was said of a call, and takes every call for unclear until the turn of its
//! session has ended.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use acp_chain_proxy::{Head, Json, Response};

use crate::call::{Call, Patch};

/// How many calls of one session are remembered; the oldest are forgotten first.
const MOST_CALLS: usize = 256;

#[derive(Default)]
pub(crate) struct Turns {
    sessions: RefCell<HashMap<String, Turn>>,
    /// An earlier instance saw what this one did not.
    late: bool,
}

/// The calls of a session, oldest first.
#[derive(Default)]
struct Turn {
    calls: VecDeque<(String, Call)>,
    /// Something may have been said of them that is not known.
    missed: bool,
}

impl Turns {
    /// For an instance that starts later.
    pub(crate) fn late() -> Self {
        Self {
            late: true,
            ..Self::default()
        }
    }

    pub(crate) fn on_update(&self, head: &Head) {
        let Some(session) = &head.session else { return };
        match head.read::<String>("/update/sessionUpdate").as_deref() {
            Some("tool_call" | "tool_call_update") => {
                let Some(id) = head.read::<String>("/update/toolCallId") else {
                    return;
                };
                let patch = head.read::<Patch>("/update");
                self.change(session, &id, |call| match &patch {
                    Some(patch) => call.update(patch),
                    None => call.unclear = true,
                });
            }
            Some("tool_call_content_chunk") => {
                let id = head.read::<String>("/update/toolCallId");
                if let (Some(id), Some(content)) = (id, head.read::<Json>("/update/content")) {
                    self.change(session, &id, |call| call.add_content(&content));
                }
            }
            // The end of a turn in version 2.
            Some("state_update")
                if head.read::<String>("/update/state").as_deref() == Some("idle") =>
            {
                self.forget(session);
            }
            _ => {}
        }
    }

    /// The end of a turn in version 1, whose answer tells why it stopped, or a turn that failed. In
    /// version 2 the answer says only that the prompt has arrived.
    pub(crate) fn on_answer(&self, response: &Response) {
        let ended =
            response.outcome.is_err() || response.head.read::<Json>("/stopReason").is_some();
        if let (true, Some(session)) = (ended, &response.head.session) {
            self.forget(session);
        }
    }

    /// What is known of a call.
    pub(crate) fn call(&self, session: &str, id: &str) -> Call {
        let sessions = self.sessions.borrow();
        let turn = sessions.get(session);
        let mut calls = turn.into_iter().flat_map(|turn| &turn.calls);
        let known = calls.find(|(known, _)| known == id);
        let mut call = known.map(|(_, call)| call.clone()).unwrap_or_default();
        call.unclear |= turn.map_or(self.late, |turn| turn.missed);
        call
    }

    fn change(&self, session: &str, id: &str, change: impl FnOnce(&mut Call)) {
        let mut sessions = self.sessions.borrow_mut();
        let turn = sessions.entry(session.to_owned()).or_insert_with(|| Turn {
            missed: self.late,
            ..Turn::default()
        });
        let calls = &mut turn.calls;
        if let Some((_, call)) = calls.iter_mut().find(|(known, _)| known == id) {
            return change(call);
        }
        if calls.len() == MOST_CALLS {
            calls.pop_front();
        }
        let mut call = Call::default();
        change(&mut call);
        calls.push_back((id.to_owned(), call));
    }

    fn forget(&self, session: &str) {
        let mut sessions = self.sessions.borrow_mut();
        sessions.insert(session.to_owned(), Turn::default());
    }
}
