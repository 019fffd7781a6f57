//! How the sessions of this connection began: with which history, and how much of it was replayed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use acp_chain_proxy::acp::Life;
use acp_chain_proxy::{Head, MessageId, Origin, Request, Response, Sessions};
use serde::{Deserialize, Serialize};

/// How many sessions are remembered. The history of others is unknown.
const MOST: usize = 512;

/// What happened in a session before it was set up on this connection.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) enum History {
    /// Nothing.
    New,
    /// That of a session, of which the agent has replayed so many prompts.
    Of {
        parent: String,
        replayed: u64,
    },
    Unknown,
}

/// A history while it is replayed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Replay {
    prompts: u64,
    /// The message of the last update, if that was one of the user's words; empty if the message has no id.
    last: Option<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Setups {
    sessions: Sessions,
    /// The session that a request continues.
    asked: RefCell<BTreeMap<MessageId, String>>,
    replays: RefCell<BTreeMap<String, Replay>>,
    continued: RefCell<BTreeMap<String, History>>,
}

impl Setups {
    /// Records a request that sets up a session, and ignores others. Returns `true` if the state changed.
    pub(crate) fn on_request(&self, request: &Request) -> bool {
        let head = &request.head;
        if let Some(parent) = &head.session
            && Life::of(&head.method).has_history()
        {
            insert(&self.asked, head.id, parent.clone());
            insert(&self.replays, parent.clone(), Replay::default());
        }
        self.sessions.on_request(request)
    }

    /// Records a response that sets up a session, and ignores others. Returns the session.
    pub(crate) fn on_response(&self, response: &Response) -> Option<String> {
        let head = &response.head;
        let parent = self.asked.borrow_mut().remove(&head.id);
        let replay = parent.as_ref().and_then(|parent| {
            let mut replays = self.replays.borrow_mut();
            replays.remove(parent)
        });
        if !self.sessions.on_response(response) || response.outcome.is_err() {
            return None;
        }
        let session = head.read("/sessionId").or_else(|| head.session.clone())?;
        if let Some(parent) = parent {
            let replayed = replay.unwrap_or_default().prompts;
            let history = History::Of { parent, replayed };
            insert(&self.continued, session.clone(), history);
        }
        Some(session)
    }

    /// Counts the user's words in a history that is replayed. `kind` is that of the update.
    pub(crate) fn on_update(&self, session: &str, kind: &str, head: &Head) {
        let mut replays = self.replays.borrow_mut();
        let Some(replay) = replays.get_mut(session) else {
            return;
        };
        if !matches!(kind, "user_message_chunk" | "user_message") {
            replay.last = None;
            return;
        }
        let message: String = head.read("/update/messageId").unwrap_or_default();
        let is_same = kind == "user_message_chunk" && replay.last.as_ref() == Some(&message);
        replay.prompts = replay.prompts.saturating_add(u64::from(!is_same));
        replay.last = Some(message);
    }

    pub(crate) fn cwd(&self, session: &str) -> Option<String> {
        Some(self.sessions.get(session)?.cwd)
    }

    pub(crate) fn history(&self, session: &str) -> History {
        let continued = self.continued.borrow().get(session).cloned();
        let origin = self.sessions.get(session).map(|known| known.origin);
        match (origin, continued) {
            (Some(Origin::New), _) => History::New,
            (Some(Origin::Continued), Some(history)) => history,
            _ => History::Unknown,
        }
    }
}

/// Adds an entry. Past the limit, another is evicted.
fn insert<K: Ord, V>(map: &RefCell<BTreeMap<K, V>>, key: K, value: V) {
    let mut entries = map.borrow_mut();
    if entries.len() >= MOST && !entries.contains_key(&key) {
        entries.pop_first();
    }
    entries.insert(key, value);
}
