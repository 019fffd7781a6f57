//! The sessions of a connection, and their working directories.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use acp_chain_acp::{Life, METHODS};
use serde::{Deserialize, Serialize};

use crate::{MessageId, Peer, Request, Response, Subscription};

/// How a session was opened.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Origin {
    /// `session/new`: it has no history yet.
    New,
    /// `session/load`, `session/resume` or `session/fork`: there is a history.
    Continued,
}

/// A session of this connection.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Session {
    /// Its working directory, an absolute path on the client's machine.
    pub cwd: String,
    /// How the session was opened.
    pub origin: Origin,
}

/// The sessions of a connection, learnt from the messages that open them.
///
/// Give [`subscriptions`](Self::subscriptions) to the host, and every request and response to
/// [`on_request`](Self::on_request) and [`on_response`](Self::on_response). If these return `true`, the state has
/// changed and should be [saved](crate::save): the messages that open a session are never repeated.
///
/// The last 1024 are known. A session is forgotten earlier if the proxy subscribes to the responses of `session/close`
/// and `session/archive` as well.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Sessions {
    asked: RefCell<BTreeMap<MessageId, Session>>,
    /// In the order of opening.
    open: RefCell<VecDeque<(String, Session)>>,
}

/// How many sessions are remembered, and how many requests to open one.
const MOST: usize = 1024;

impl Sessions {
    /// The messages that open sessions.
    pub fn subscriptions() -> impl Iterator<Item = Subscription> {
        let setups = METHODS.iter().filter(|method| method.life.sets_up());
        setups.flat_map(|method| {
            let request = Subscription::requests(method.name).from(Peer::Client);
            let response = Subscription::responses(method.name).from(Peer::Agent);
            [request.without_body(), response.without_body()]
        })
    }

    /// A proxy's own subscriptions, followed by [those of sessions](Self::subscriptions).
    #[must_use]
    pub fn beside(own: &[Subscription]) -> Vec<Subscription> {
        own.iter().cloned().chain(Self::subscriptions()).collect()
    }

    /// Records a request that opens a session, and ignores others. Returns `true` if the state changed.
    pub fn on_request(&self, request: &Request) -> bool {
        let head = &request.head;
        let origin = match Life::of(&head.method) {
            Life::Begins => Origin::New,
            Life::Loads | Life::Forks => Origin::Continued,
            _ => return false,
        };
        let Some(cwd) = head.read("/cwd") else {
            return false;
        };
        let mut asked = self.asked.borrow_mut();
        if asked.len() == MOST {
            // A cancelled request may never be answered, so the oldest is evicted.
            asked.pop_first();
        }
        asked.insert(head.id, Session { cwd, origin });
        true
    }

    /// Records a response that opens or ends a session, and ignores others. Returns `true` if the state changed.
    pub fn on_response(&self, response: &Response) -> bool {
        let head = &response.head;
        if Life::of(&head.method) == Life::Ends {
            let ended = head.session.as_ref().filter(|_| response.outcome.is_ok());
            return ended.is_some_and(|id| self.forget(id));
        }
        let Some(session) = self.asked.borrow_mut().remove(&head.id) else {
            return false;
        };
        if response.outcome.is_ok() {
            // The result of a fork has the new session's id; that of `session/load` has none.
            if let Some(id) = head.read("/sessionId").or_else(|| head.session.clone()) {
                self.forget(&id);
                let mut open = self.open.borrow_mut();
                open.push_back((id, session));
                if open.len() > MOST {
                    open.pop_front();
                }
            }
        }
        true
    }

    /// Returns whether the session was known.
    fn forget(&self, id: &str) -> bool {
        let mut open = self.open.borrow_mut();
        let known = open.len();
        open.retain(|(name, _)| name != id);
        open.len() < known
    }

    /// A session that was opened on this connection.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Session> {
        let open = self.open.borrow();
        let found = open.iter().find(|(name, _)| name == id);
        found.map(|(_, session)| session.clone())
    }
}
