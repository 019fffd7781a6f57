//! Which stream a message goes to: that of its session, or that of the connection (RFD
//! streamable-http-websocket-transport).
//!
//! An answer goes where its request belongs, and so does the cancellation of a request. A session is known once the
//! agent has named it, or the client requests to load it. Messages of a session that the client has not set up, such as
//! a subagent's, go to the connection's stream: the client would open no other one for them.
//!
//! | file | what it is |
//! |---|---|
//! | `requests` | the open requests of the client, and the sessions and turns that they begin and end |
//! | `streams` | all streams of a connection, and what they may keep |

mod requests;
mod streams;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_acp::{CANCEL_REQUEST, Life, PERMISSION};
use acp_chain_rpc::{Error, Id, Message, member};
use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

pub use self::requests::EndedParts;
use self::requests::{NotBegun, Requests};
use self::streams::Streams;
pub use self::streams::WAITING;
use super::access_log::LogContext;
use super::account::Account;
use super::permission_log::Permissions;
use super::shared::Denial;
use crate::wire::failure;

/// How many sessions of a connection may have a stream of their own; messages of others go to the connection's. As many
/// may be open, and have a turn.
const SESSIONS: usize = 4096;

/// How many requests of a client may be open, and for how many requests of the agent the session is remembered.
const REQUESTS: usize = 4096;

/// The result of a message of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// The message is passed to the chain.
    Passed,
    /// The message was answered here.
    Answered,
    /// Too many requests are open already.
    TooMany,
    /// No turn of the user may begin now.
    Denied(Denial),
    /// The connection has ended.
    Ended,
}

/// The state of a connection, as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    pub sessions: usize,
    pub turns: usize,
    /// The bytes of unsent messages.
    pub waiting: usize,
    /// The bytes of sent messages that are kept.
    pub kept: usize,
}

/// The messages of a connection, each on its way to a stream.
#[derive(Debug)]
pub struct Routes {
    pub streams: Streams,
    pub requests: Requests,
    /// The sessions of the agent's open requests.
    agent_requests: HashMap<Id, Arc<str>>,
    /// The permissions requested from the client.
    permissions: Permissions,
    /// The request whose answer is returned directly, by its id, and the channel for the answer.
    first: Option<(Id, oneshot::Sender<Message>)>,
    log: Arc<LogContext>,
}

impl Routes {
    /// Streams of events, one for each session; or a single one.
    pub fn new(is_one: bool, account: Arc<Account>, log: Arc<LogContext>) -> Self {
        Self {
            streams: Streams::new(is_one),
            requests: Requests::new(account, log.clone()),
            agent_requests: HashMap::new(),
            permissions: Permissions::new(&log),
            first: None,
            log,
        }
    }

    /// Returns the answer to this request directly.
    pub fn answer_at_once(&mut self, id: Id) -> oneshot::Receiver<Message> {
        let (answer, answered) = oneshot::channel();
        self.first = Some((id, answer));
        answered
    }

    /// Notes a message of the client.
    pub fn note(&mut self, message: &Message) -> DeliveryResult {
        if message.kind().is_response() {
            if let Some(id) = message.id() {
                self.agent_requests.remove(&id);
            }
            self.permissions.answer(message);
            return DeliveryResult::Passed;
        }
        let life = Life::of(message.method());
        match self.requests.begin(message, life) {
            Ok(()) => {}
            Err(NotBegun::Refused(id, error)) => return self.refuse_or_drop(&id, &error),
            Err(NotBegun::TooMany) => return DeliveryResult::TooMany,
            Err(NotBegun::Denied(why)) => return DeliveryResult::Denied(why),
        }
        if life == Life::Loads
            && let Some(name) = message.session()
        {
            self.streams.load(name);
        }
        DeliveryResult::Passed
    }

    /// Answers a request with an error, unless the client has too many unsent bytes already.
    fn refuse_or_drop(&mut self, id: &Id, error: &Error) -> DeliveryResult {
        if self.streams.waiting() >= WAITING {
            return DeliveryResult::TooMany;
        }
        self.refuse(id, error);
        DeliveryResult::Answered
    }

    /// Answers a request with an error, in place of the chain.
    pub fn refuse(&mut self, id: &Id, error: &Error) {
        let line = failure(id, error);
        self.log.figures.sent(line.len());
        self.streams.push(None, line);
    }

    /// Whether no request of the client is open, and no turn runs.
    pub fn is_idle(&self) -> bool {
        self.requests.is_idle() && self.first.is_none()
    }

    /// Routes a message of the agent. Returns a session that it has opened.
    pub fn push(&mut self, line: Bytes) -> Option<Arc<str>> {
        self.log.figures.sent(line.len());
        let Ok(message) = Message::parse(line.clone()) else {
            self.streams.push(None, line);
            return None;
        };
        if message.kind().is_response() {
            return self.push_answer(line, &message);
        }
        if **message.method() == *PERMISSION {
            self.permissions.request(&message);
            self.requests.count_permission(message.session());
        }
        self.requests.note_state(&message);
        let session = self.session_of(&message);
        self.streams.push(session.as_ref(), line);
        None
    }

    /// The session on whose stream a message of the agent belongs.
    fn session_of(&mut self, message: &Message) -> Option<Arc<str>> {
        if &**message.method() == CANCEL_REQUEST {
            let id = member(message.body(), "requestId").and_then(Id::parse)?;
            return self.agent_requests.get(&id).cloned();
        }
        let name = message.session()?;
        let has_stream =
            self.streams.has(name) || self.requests.is_opening() && self.streams.begin(name, true);
        if !has_stream {
            return None;
        }
        let name = name.clone();
        if let Some(id) = message.id()
            && self.agent_requests.len() < REQUESTS
        {
            self.agent_requests.insert(id, name.clone());
        }
        Some(name)
    }

    fn push_answer(&mut self, line: Bytes, message: &Message) -> Option<Arc<str>> {
        let id = message.id().unwrap_or_else(Id::null);
        let answered = self.requests.answer(&id, message);
        if let Some((_, waits)) = self.first.take_if(|(first, _)| *first == id) {
            let _ = waits.send(message.clone());
            return None;
        }
        let (session, its_life) = answered.unwrap_or((None, Life::Serves));
        if !its_life.names_session() {
            let session = session.filter(|name| self.streams.has(name));
            self.streams.push(session.as_ref(), line);
            if let Some(name) = session {
                self.streams.answer(&name, its_life);
            }
            return None;
        }
        let opened = message.session().cloned();
        if let Some(name) = &opened {
            // The stream exists before the client receives the name of the session.
            self.streams.begin(name, false);
        }
        self.streams.push(None, line);
        if !self.requests.is_opening() {
            self.streams.forget_early();
        }
        opened
    }

    /// Drops open requests, turns and sessions: the chain has ended.
    pub fn end(&mut self) {
        self.requests.end();
        self.agent_requests.clear();
        self.permissions.clear();
        self.first = None;
        self.streams.wake();
    }

    /// The numbers of open sessions and running turns, and the bytes of all streams.
    pub fn gauges(&mut self) -> Gauges {
        Gauges {
            sessions: self.requests.sessions.len(),
            turns: self.requests.turns(),
            waiting: self.streams.waiting(),
            kept: self.streams.kept(),
        }
    }

    /// For how long no stream has had a reader; `None` if one has.
    pub fn deserted(&mut self, now: Instant) -> Option<Duration> {
        if self.first.is_some() {
            // A request waits for the first answer.
            return None;
        }
        self.streams.deserted(now)
    }
}

#[cfg(test)]
mod tests;
