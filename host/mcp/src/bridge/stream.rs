//! One stream on which a client listens, and which messages belong on it.

use std::sync::{Arc, Weak};

use tokio::sync::Notify;

use super::outbound::Outbound;
use acp_chain_rpc::{self as rpc, Id, Kind, Message};

/// What a stream is for.
#[derive(Debug)]
pub enum Role {
    /// Everything.
    Pipe,
    /// The answers to these requests; and other messages, if it is a stream of events.
    Answers {
        /// Unanswered requests.
        asked: Vec<Asked>,
        /// Whether it takes more than answers.
        events: bool,
    },
    /// Messages that belong to no request.
    Listening,
}

/// An unanswered request.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub id: Id,
    pub progress_token: Option<Id>,
}

impl Asked {
    /// Of a request.
    pub fn of(request: &Message) -> Option<Self> {
        let token = rpc::resolve(request.body(), "/_meta/progressToken");
        Some(Self {
            id: request.id()?,
            progress_token: token.ok().flatten().and_then(Id::parse),
        })
    }
}

/// Ends the connection that carries a stream. Lives as long as the stream.
#[derive(Debug)]
pub struct Cut(pub Arc<Notify>);

impl Cut {
    /// Ends the connection, whatever is still on the way.
    pub fn now(&self) {
        self.0.notify_one();
    }
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    pub role: Role,
    /// `None` when the last message is queued, or the client is gone.
    pub outbound: Option<Outbound>,
    pub cut: Weak<Cut>,
    /// Whether its client knows an event of it, after which it can resume.
    pub begun: bool,
    /// Whether its connection is gone, and the client may resume it.
    pub lost: bool,
}

impl Stream {
    /// Whether it takes more than answers.
    pub fn takes_all(&self) -> bool {
        !matches!(self.role, Role::Answers { events: false, .. })
    }

    /// Whether it takes the answer to such a request.
    pub fn answers(&self, wanted: impl Fn(&Asked) -> bool) -> bool {
        matches!(&self.role, Role::Answers { asked, .. } if asked.iter().any(wanted))
    }
}

/// Whether a notification reports a change, and so belongs to no request.
pub fn is_of_no_request(method: &str) -> bool {
    method.ends_with("/list_changed") || method == "notifications/resources/updated"
}

/// The token of the request that a notification belongs to.
pub fn progress(message: &Message) -> Option<Id> {
    let is_notification = message.kind() == Kind::Notification;
    let token = is_notification.then(|| rpc::member(message.body(), "progressToken"));
    token.flatten().and_then(Id::parse)
}
