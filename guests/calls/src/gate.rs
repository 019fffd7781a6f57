//! The gate of a session: whether a turn goes on there, whether it was stopped, and the lock behind which calls wait;
//! the answers to what does not pass; and how a yes of the user is told from that of an editor.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_proxy::{Action, Error, Version, id, sleep, spawn};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Mutex;

/// The gate of a session. The lock is not saved: a question is lost if the proxy breaks.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Gate {
    /// How many prompts the agent works on.
    prompts: u32,
    /// Why the turn was stopped, until it ends.
    pub halted: Option<String>,
    /// Locked while a call is decided, or the user is asked about it. Another one when a turn ends: what follows does
    /// not wait for the answer to an old question.
    #[serde(skip)]
    pub lock: Arc<Mutex<()>>,
}

impl Gate {
    pub fn has_turn(&self) -> bool {
        self.prompts > 0
    }

    /// Whether a call is being decided.
    pub fn is_locked(&self) -> bool {
        self.lock.try_lock().is_err()
    }

    /// The agent begins to work on a prompt, or by itself.
    pub fn begin(&mut self) {
        self.prompts = self.prompts.saturating_add(1);
    }

    /// The agent has ended its work on so many prompts. Returns whether no turn goes on.
    pub fn end(&mut self, prompts: u32) -> bool {
        self.prompts = self.prompts.saturating_sub(prompts);
        let is_over = !self.has_turn();
        if is_over {
            self.halted = None;
            self.lock = Arc::default();
        }
        is_over
    }

    /// Stops the turn, once: only one that goes on and was not stopped. Returns whether this stops it.
    pub fn halt(&mut self, why: &str) -> bool {
        let halts = self.has_turn() && self.halted.is_none();
        if halts {
            self.halted = Some(why.to_owned());
        }
        halts
    }
}

/// Whether it is too early for the answer of a person to a question that is asked now: a person takes at least this
/// long. An editor that allows everything answers at once.
pub fn early(least: Duration) -> Rc<Cell<bool>> {
    let is_early = Rc::new(Cell::new(!least.is_zero()));
    if is_early.get() {
        let over = Rc::clone(&is_early);
        spawn(async move {
            if sleep(least).await.is_ok() {
                over.set(false);
            }
        });
    }
    is_early
}

/// Answers a prompt in place of the agent. In version 2, only the agent can end a turn.
pub fn answer(version: Version, session: &str, text: &str) -> Action {
    if version == Version::V1 && version.tell(session, text).is_ok() {
        return Action::Respond(json!({ "stopReason": "end_turn" }).into());
    }
    refuse(text)
}

/// Refuses a request, as invalid (JSON-RPC §5.1).
pub fn refuse(why: &str) -> Action {
    Action::Reject(Error::new(-32600, format!("{}: {why}", id())))
}
