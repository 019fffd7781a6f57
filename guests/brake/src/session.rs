//! The sessions of a connection, and what is counted in each.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use acp_chain_calls::gate::Gate;
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::calls::Calls;
use crate::usage::Usage;

/// The number of sessions past which those without a turn are forgotten.
const MOST: usize = 512;

/// A session. What is not saved is lost if the proxy breaks: questions, and which calls a turn has made. Each turn
/// saves all sessions twice, so what is as in a new session is left out.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Session {
    #[serde(default, skip_serializing_if = "is_new")]
    pub(crate) turn: Account,
    #[serde(default, skip_serializing_if = "is_new")]
    pub(crate) total: Account,
    #[serde(default, skip_serializing_if = "is_new")]
    pub(crate) usage: Usage,
    /// Whether there was a prompt on this connection.
    pub(crate) was_prompted: bool,
    /// What the next prompt is answered with.
    #[serde(default, skip_serializing_if = "is_new")]
    pub(crate) owed: Option<String>,
    /// By the number of a period, whether a budget of it that outlasts the connection was stored.
    #[serde(default, skip_serializing_if = "is_new")]
    pub(crate) stored: [bool; 4],
    #[serde(skip)]
    pub(crate) calls: Calls,
    /// Cloned by each call that waits for a decision.
    #[serde(skip)]
    pub(crate) waits: Rc<()>,
    /// Locked while a limit is looked at, or the user is asked about it. What can wait does so.
    #[serde(flatten)]
    pub(crate) gate: Gate,
}

impl Session {
    pub(crate) fn has_turn(&self) -> bool {
        self.gate.has_turn()
    }

    /// Whether a limit is being looked at.
    pub(crate) fn is_waiting(&self) -> bool {
        self.gate.is_locked()
    }

    /// Whether the agent waits until a limit has been looked at.
    pub(crate) fn is_held(&self) -> bool {
        self.is_waiting() && Rc::strong_count(&self.waits) > 1
    }

    /// A prompt arrives. Unless a turn goes on, a new one begins.
    pub(crate) fn prepare(&mut self) {
        if !self.has_turn() {
            self.turn = Account::default();
            self.end(0);
        }
    }

    /// The agent begins to work on a prompt, or by itself.
    pub(crate) fn begin(&mut self) {
        self.was_prompted = true;
        self.gate.begin();
    }

    /// The agent has ended its work on so many prompts.
    pub(crate) fn end(&mut self, prompts: u32) {
        if self.gate.end(prompts) {
            self.calls = Calls::default();
        }
    }
}

/// The sessions of a connection, by their ids.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Sessions(RefCell<BTreeMap<String, Session>>);

impl Sessions {
    /// Looks at a session, which is added if it is new.
    pub(crate) fn with<T>(&self, id: &str, look: impl FnOnce(&mut Session) -> T) -> T {
        let mut sessions = self.0.borrow_mut();
        if let Some(session) = sessions.get_mut(id) {
            return look(session);
        }
        if sessions.len() >= MOST {
            // An agent can name any number of sessions that had no prompt.
            sessions.retain(|_, other| other.was_prompted || other.has_turn());
        }
        if sessions.len() >= MOST {
            sessions.retain(|_, other| other.has_turn());
        }
        look(sessions.entry(id.to_owned()).or_default())
    }

    /// The sessions that have a turn.
    pub(crate) fn with_turns(&self) -> Vec<String> {
        let sessions = self.0.borrow();
        let running = sessions.iter().filter(|(_, session)| session.has_turn());
        running.map(|(id, _)| id.clone()).collect()
    }
}

/// Whether a value is that of a new session.
fn is_new<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
