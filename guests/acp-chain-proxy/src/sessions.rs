//! The sessions of a connection, and their working directories.

use std::cell::RefCell;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{MessageId, Peer, Request, Response, Subscription};

/// How a session came about.
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
    /// How it came about.
    pub origin: Origin,
}

/// The sessions of a connection, learnt from the messages that open them.
///
/// Give [`SUBSCRIPTIONS`](Self::SUBSCRIPTIONS) to the host, and every request and response to
/// [`on_request`](Self::on_request) and [`on_response`](Self::on_response). If these return `true`, something changed
/// that should be [saved](crate::save): the messages that open a session are never repeated.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Sessions {
    asked: RefCell<HashMap<MessageId, Session>>,
    open: RefCell<HashMap<String, Session>>,
}

impl Sessions {
    /// The messages that open sessions.
    pub const SUBSCRIPTIONS: &'static [Subscription] = &[
        Subscription::requests("session/new")
            .from(Peer::Client)
            .without_body(),
        Subscription::requests("session/load")
            .from(Peer::Client)
            .without_body(),
        Subscription::requests("session/resume")
            .from(Peer::Client)
            .without_body(),
        Subscription::requests("session/fork")
            .from(Peer::Client)
            .without_body(),
        Subscription::responses("session/new")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/load")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/resume")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/fork")
            .from(Peer::Agent)
            .without_body(),
    ];

    /// A proxy's own subscriptions, followed by [`SUBSCRIPTIONS`](Self::SUBSCRIPTIONS).
    #[must_use]
    pub fn beside(own: &[Subscription]) -> Vec<Subscription> {
        own.iter().chain(Self::SUBSCRIPTIONS).cloned().collect()
    }

    /// Looks at a request; ignores one that opens no session. Returns `true` if something changed.
    pub fn on_request(&self, request: &Request) -> bool {
        let head = &request.head;
        let origin = match head.method.as_str() {
            "session/new" => Origin::New,
            "session/load" | "session/resume" | "session/fork" => Origin::Continued,
            _ => return false,
        };
        let Some(cwd) = head.read("/cwd") else {
            return false;
        };
        let session = Session { cwd, origin };
        self.asked.borrow_mut().insert(head.id, session);
        true
    }

    /// Looks at a response; ignores one that opens no session. Returns `true` if something changed.
    pub fn on_response(&self, response: &Response) -> bool {
        let head = &response.head;
        let Some(session) = self.asked.borrow_mut().remove(&head.id) else {
            return false;
        };
        if response.outcome.is_ok() {
            // A fork has an id of its own in the result; a session that is loaded has none there.
            if let Some(id) = head.read("/sessionId").or_else(|| head.session.clone()) {
                self.open.borrow_mut().insert(id, session);
            }
        }
        true
    }

    /// A session that was opened on this connection.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Session> {
        self.open.borrow().get(id).cloned()
    }
}
