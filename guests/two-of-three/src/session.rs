//! The sessions of a connection.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use acp_chain_calls::gate::Gate;
use serde::{Deserialize, Serialize};

use crate::label::Labels;

/// The number of sessions past which those without a turn are forgotten. What is stored of them stays.
const MOST: usize = 256;
/// How many files are kept of which a session has written that they use the network.
const MOST_FETCHING: usize = 256;
/// How many marks of calls are kept in a turn.
const MOST_CALLS: usize = 4096;

/// A session. What is not saved is lost if the proxy breaks.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Session {
    pub(crate) labels: Labels,
    /// Whether the labels that are stored are among these.
    pub(crate) is_loaded: bool,
    /// Whether there are labels that are not stored.
    pub(crate) is_unstored: bool,
    /// The files that the session has written, and that may fetch text from outside when they are run.
    #[serde(default)]
    fetching: BTreeSet<String>,
    /// Whether there are more of them.
    #[serde(default)]
    fetches_more: bool,
    /// The calls of the turn that were decided about, as hashes, the oldest first.
    #[serde(skip)]
    decided: VecDeque<u64>,
    #[serde(flatten)]
    pub(crate) gate: Gate,
}

impl Session {
    pub(crate) fn has_turn(&self) -> bool {
        self.gate.has_turn()
    }

    /// The agent begins to work on a prompt, or by itself.
    pub(crate) fn begin(&mut self) {
        self.gate.begin();
    }

    /// The agent has ended its work on so many prompts.
    pub(crate) fn end(&mut self, prompts: u32) {
        if self.gate.end(prompts) {
            self.decided.clear();
        }
    }

    pub(crate) fn decide(&mut self, call: u64) {
        if self.has_decided(call) {
            return;
        }
        if self.decided.len() >= MOST_CALLS {
            self.decided.pop_front();
        }
        self.decided.push_back(call);
    }

    /// A call has run. The next one may have its id.
    pub(crate) fn forget(&mut self, call: u64) {
        self.decided.retain(|known| *known != call);
    }

    pub(crate) fn has_decided(&self, call: u64) -> bool {
        self.decided.contains(&call)
    }

    /// These files are written, and use the network.
    pub(crate) fn add_fetching(&mut self, files: &BTreeSet<String>) {
        for file in files {
            if self.fetching.len() < MOST_FETCHING {
                self.fetching.insert(file.clone());
            } else {
                self.fetches_more = true;
            }
        }
    }

    /// One of these files that may fetch text from outside.
    pub(crate) fn fetching(&self, files: &BTreeSet<String>) -> Option<String> {
        let known = files.iter().find(|file| self.fetching.contains(*file));
        let more = self
            .fetches_more
            .then(|| "a file of the session".to_owned());
        known.cloned().or(more)
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
            sessions.retain(|_, other| other.has_turn() || other.is_unstored);
        }
        look(sessions.entry(id.to_owned()).or_default())
    }

    /// Whether the labels of a session are known on this connection.
    pub(crate) fn is_loaded(&self, id: &str) -> bool {
        let sessions = self.0.borrow();
        sessions.get(id).is_some_and(|session| session.is_loaded)
    }
}
