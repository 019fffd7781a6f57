//! Facts stated once per connection, or once per session. All are saved, for a later instance.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use acp_chain_proxy::{Json, MessageId, Origin, Request, Response, Sessions, Version};
use serde::{Deserialize, Serialize};

#[derive(Default, Deserialize, Serialize)]
pub(crate) struct State {
    client_reads: Cell<bool>,
    version: Cell<Version>,
    /// Whether the agent accepts embedded resources.
    takes_resources: Cell<bool>,
    sessions: Sessions,
    /// The prompt to which a session's rules were added.
    given: RefCell<HashMap<String, MessageId>>,
}

impl State {
    /// Examines a request that is not a prompt. Returns true if something changed.
    pub(crate) fn on_request(&self, request: &Request) -> bool {
        let head = &request.head;
        if head.method != "initialize" {
            return self.sessions.on_request(request);
        }
        // Version 2 has no such capability: there the client reads no files for an agent.
        let reads = head.read("/clientCapabilities/fs/readTextFile");
        self.client_reads.set(reads.unwrap_or_default());
        true
    }

    /// Examines a response. Returns true if something changed.
    pub(crate) fn on_response(&self, response: &Response) -> bool {
        if let Some(version) = Version::agreed(response) {
            self.on_agreed(version, response);
            return true;
        }
        let head = &response.head;
        if head.method != "session/prompt" {
            return self.sessions.on_response(response);
        }
        let Some(session) = head.session.as_ref().filter(|_| response.outcome.is_err()) else {
            return false;
        };
        // The agent rejected the prompt, so it did not get the rules either.
        let mut given = self.given.borrow_mut();
        given.get(session) == Some(&head.id) && given.remove(session).is_some()
    }

    fn on_agreed(&self, version: Version, response: &Response) {
        self.version.set(version);
        let pointer = match version {
            Version::V1 => "/agentCapabilities/promptCapabilities/embeddedContext",
            Version::V2 => "/capabilities/session/prompt/embeddedContext",
        };
        // `true` in version 1; in version 2 an object.
        let stated = response.head.read::<Json>(pointer).map(String::from);
        let takes = stated.is_some_and(|stated| stated != "null" && stated != "false");
        self.takes_resources.set(takes);
    }

    pub(crate) fn version(&self) -> Version {
        self.version.get()
    }

    pub(crate) fn takes_resources(&self) -> bool {
        self.takes_resources.get()
    }

    pub(crate) fn client_reads(&self) -> bool {
        self.client_reads.get()
    }

    /// The directory of a new session without rules so far.
    pub(crate) fn without_rules(&self, session: &str) -> Option<String> {
        let known = self.sessions.get(session)?;
        let waits = known.origin == Origin::New && !self.given.borrow().contains_key(session);
        waits.then_some(known.cwd)
    }

    /// A session gets its rules with this prompt.
    pub(crate) fn give(&self, session: String, prompt: MessageId) {
        self.given.borrow_mut().insert(session, prompt);
    }
}
