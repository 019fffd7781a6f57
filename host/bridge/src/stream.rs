//! A stream of messages to a client, and which messages it carries.

use std::sync::{Arc, Weak};

use tokio::sync::Notify;

use super::outbound::Outbound;
use acp_chain_rpc::{self as rpc, Id, Kind, Message};

/// Which messages a stream carries.
#[derive(Debug)]
pub enum Role {
    /// The answers to requests; also other messages, if it is a stream of events.
    Answers {
        /// The unanswered requests.
        asked: Vec<PendingRequest>,
        /// Whether the stream also carries other messages.
        events: bool,
    },
    /// Messages that belong to no request; over stdio, all messages.
    Listening,
}

/// An unanswered request.
#[derive(Debug, PartialEq, Eq)]
pub struct PendingRequest {
    pub id: Id,
    pub progress_token: Option<Id>,
}

impl PendingRequest {
    /// `None` if the message has no id.
    pub fn of(request: &Message) -> Option<Self> {
        let token = rpc::resolve(request.body(), "/_meta/progressToken");
        Some(Self {
            id: request.id()?,
            progress_token: token.ok().flatten().and_then(Id::parse),
        })
    }
}

/// Closes the connection that carries a stream. Lives as long as the attachment to the stream.
#[derive(Debug)]
pub struct Closer(pub Arc<Notify>);

impl Closer {
    /// Closes the connection at once, even if messages are queued.
    pub fn now(&self) {
        self.0.notify_one();
    }
}

#[derive(Debug)]
pub struct Stream {
    pub role: Role,
    /// `None` once the last message is queued, or the client is disconnected.
    pub outbound: Option<Outbound>,
    pub cut: Weak<Closer>,
    /// Whether an event was sent, after which the client can resume.
    pub begun: bool,
    /// Whether the connection was closed, and the client may resume the stream.
    pub lost: bool,
}

impl Stream {
    /// Whether the stream carries more than answers.
    pub fn takes_all(&self) -> bool {
        !matches!(self.role, Role::Answers { events: false, .. })
    }

    /// Whether the stream is for the answer to a matching request.
    pub fn answers(&self, wanted: impl Fn(&PendingRequest) -> bool) -> bool {
        matches!(&self.role, Role::Answers { asked, .. } if asked.iter().any(wanted))
    }
}

/// Whether a notification reports a change, and thus belongs to no request.
pub fn is_of_no_request(method: &str) -> bool {
    method.ends_with("/list_changed") || method == "notifications/resources/updated"
}

/// The progress token of a notification.
pub fn progress(message: &Message) -> Option<Id> {
    let is_notification = message.kind() == Kind::Notification;
    let token = is_notification.then(|| rpc::member(message.body(), "progressToken"));
    token.flatten().and_then(Id::parse)
}
