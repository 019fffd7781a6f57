//! The tool calls of the turns that are under way: a permission request may name a call whose
//! title, kind and paths were sent earlier.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use acp_chain_proxy::{Head, Json, Response};

use crate::call::{Call, Patch};

/// How many calls of one session are remembered; the oldest are forgotten first.
const MOST_CALLS: usize = 256;

#[derive(Default)]
pub(crate) struct Turns(RefCell<HashMap<String, VecDeque<(String, Call)>>>);

impl Turns {
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
        let sessions = self.0.borrow();
        let calls = sessions.get(session).into_iter().flatten();
        let known = calls.into_iter().find(|(known, _)| known == id);
        known.map(|(_, call)| call.clone()).unwrap_or_default()
    }

    fn change(&self, session: &str, id: &str, change: impl FnOnce(&mut Call)) {
        let mut sessions = self.0.borrow_mut();
        let calls = sessions.entry(session.to_owned()).or_default();
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
        self.0.borrow_mut().remove(session);
    }
}
