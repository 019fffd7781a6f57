//! The state of the fake host: held messages, unanswered requests, and messages sent on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use acp_chain_acp::Life;
use acp_chain_powers::{Actions, Grant};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::calls::Calls;
use super::message::Message;
use super::powers;
use super::values::Stored;
use crate::subscription::Kind;
use crate::{Action, ChannelError, Edit, Error, FailurePolicy, Head, Json, Level, MessageId, Peer};

/// A message that left the proxy.
#[derive(Clone, Debug)]
pub struct SentMessage {
    /// The receiving neighbour.
    pub to: Peer,
    /// The number of the message; for an answer or a cancellation, that of the request.
    pub id: MessageId,
    /// Its kind.
    pub what: SentKind,
    /// Its method; for an answer, that of the request.
    pub method: String,
    /// Its body, or the error of an answer.
    pub body: Result<Json, Error>,
}

/// The kinds of messages that leave a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentKind {
    /// A request, forwarded or the proxy's own.
    Request,
    /// A notification, forwarded or the proxy's own.
    Notification,
    /// The answer to a request.
    Response,
    /// The cancellation of the proxy's own request.
    Cancel,
}

impl SentMessage {
    /// The part of the body at a JSON Pointer; null if nothing is there.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Value {
        self.get(pointer).unwrap_or_default()
    }

    /// The part of the body at a JSON Pointer as a Rust type.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, pointer: &str) -> Option<T> {
        self.body.as_ref().ok()?.at(pointer)
    }
}

/// A request that left the proxy and waits for its answer.
pub(super) struct OutstandingRequest {
    pub(super) to: Peer,
    pub(super) method: String,
    pub(super) session: Option<String>,
    pub(super) own: bool,
}

#[derive(Default)]
pub(super) struct Line {
    /// False while the proxy is being created.
    pub(super) open: bool,
    pub(super) on_failure: FailurePolicy,
    /// `None` grants everything.
    pub(super) grant: Option<Grant>,
    pub(super) saved: Option<String>,
    /// Whether the proxy saved something that the test has not read.
    pub(super) unseen: bool,
    last: MessageId,
    pub(super) held: BTreeMap<MessageId, Message>,
    /// Responses that wait for held notifications, oldest first.
    waiting: Vec<Message>,
    pub(super) asked: BTreeMap<MessageId, OutstandingRequest>,
    /// Time since the start.
    pub(super) now: Duration,
    /// The time of day; `None` is that of the machine.
    pub(super) time: Option<SystemTime>,
    /// When the proxy's pauses end.
    pub(super) pauses: BTreeMap<MessageId, Duration>,
    pub(super) calls: Calls,
    /// The callers' `_meta`; `None` declares every capability.
    pub(super) meta: Option<Json>,
    pub(super) values: Stored,
    pub(super) sent: Vec<SentMessage>,
    pub(super) log: Vec<(Level, String)>,
}

thread_local! {
    pub(super) static LINE: RefCell<Line> = RefCell::default();
}

pub(super) fn next_id() -> MessageId {
    LINE.with_borrow_mut(|line| {
        line.last += 1;
        line.last
    })
}

pub(super) fn hold(message: Message) {
    LINE.with_borrow_mut(|line| line.held.insert(message.head.id, message));
}

/// Sends a request of the proxy's own. Returns its number.
pub(super) fn request(to: Peer, method: &str, session: Option<String>, params: Json) -> MessageId {
    let id = next_id();
    LINE.with_borrow_mut(|line| {
        line.expect(id, to, method, session, true);
        line.send(to, id, SentKind::Request, method.to_owned(), Ok(params));
    });
    id
}

/// Settles a message that is being handled or held, for the proxy. It stays held if the action is rejected.
pub(crate) fn settle(id: MessageId, action: Action) -> Result<(), ChannelError> {
    if LINE.with_borrow(|line| line.calls.is_pending(id)) {
        return LINE.with_borrow_mut(|line| line.calls.settle(id, action));
    }
    let action = LINE.with_borrow(|line| {
        let held = line.held.get(&id).ok_or(ChannelError::UnknownMessage)?;
        let action = match (action, &held.body) {
            (Action::Edit(edits), Ok(body)) => Action::Replace(edited(body, &edits)?),
            (action, _) => action,
        };
        powers::covers(&line.grant(), held, &action)?;
        Ok(action)
    })?;
    conclude(id, action)
}

/// Carries out an action on a message, without checking powers.
fn conclude(id: MessageId, action: Action) -> Result<(), ChannelError> {
    if action == Action::Hold {
        return Ok(());
    }
    LINE.with_borrow_mut(|line| {
        let message = line.held.remove(&id).ok_or(ChannelError::UnknownMessage)?;
        let (sender, kind) = (message.head.sender, message.kind);
        match (message.kind, action) {
            (_, Action::Forward) => line.pass(message),
            (_, Action::Replace(body)) => line.pass(Message {
                body: Ok(body),
                ..message
            }),
            (Kind::Request, Action::Respond(result)) => line.respond(sender, message, Ok(result)),
            (Kind::Request, Action::Reject(error)) => line.respond(sender, message, Err(error)),
            (Kind::Response, Action::Reject(error)) => {
                line.pass(Message {
                    body: Err(error),
                    ..message
                });
            }
            (Kind::Notification, Action::Discard) => {}
            (kind, action) => panic!("{action:?} is invalid for a {kind:?}"),
        }
        if kind == Kind::Notification {
            for response in std::mem::take(&mut line.waiting) {
                line.pass(response);
            }
        }
        Ok(())
    })
}

/// Applies edits to a body, in order.
fn edited(body: &Json, edits: &[Edit]) -> Result<Json, ChannelError> {
    edits.iter().try_fold(body.clone(), |body, edit| {
        body.edited(edit).map_err(ChannelError::Invalid)
    })
}

/// Fails a held message for the proxy.
pub(crate) fn fail(id: MessageId, failure: &str) -> Result<(), ChannelError> {
    if !LINE.with_borrow(|line| line.holds(id)) {
        return Err(ChannelError::UnknownMessage);
    }
    refuse(id, failure);
    Ok(())
}

/// Settles a message that the proxy could not decide, by the failure policy.
pub(super) fn refuse(id: MessageId, failure: &str) {
    if LINE.with_borrow(|line| line.calls.is_pending(id)) {
        let error = Error::new(Error::INTERNAL, failure);
        return LINE.with_borrow_mut(|line| line.calls.conclude(id, Err(error)));
    }
    let action = LINE.with_borrow(|line| {
        let message = &line.held[&id];
        let powerless = !line
            .grant()
            .covers(Actions::DECIDE, &powers::subject(message));
        match message.kind {
            _ if powerless || line.on_failure == FailurePolicy::Bypass => Action::Forward,
            Kind::Request | Kind::Response => Action::Reject(Error::new(Error::INTERNAL, failure)),
            Kind::Notification => Action::Discard,
        }
    });
    conclude(id, action).expect("the message is held");
}

/// Refuses the held messages of a broken proxy, and cancels its requests.
pub(super) fn abandon() {
    for id in LINE.with_borrow(Line::all_held) {
        refuse(id, "the proxy broke");
    }
    LINE.with_borrow_mut(|line| {
        line.pauses.clear();
        let own: Vec<_> = line.asked.extract_if(.., |_, asked| asked.own).collect();
        for (id, OutstandingRequest { to, method, .. }) in own {
            line.send(to, id, SentKind::Cancel, method, Ok(Json::null()));
        }
    });
}

impl Line {
    pub(super) fn grant(&self) -> Grant {
        self.grant.clone().unwrap_or_else(Grant::unlimited)
    }

    /// Ends the first pause that is due by `until`.
    pub(super) fn next_pause(&mut self, until: Duration) -> Option<MessageId> {
        let (due, id) = self.pauses.iter().map(|(id, due)| (*due, *id)).min()?;
        if due > until {
            return None;
        }
        self.now = self.now.max(due);
        self.pauses.remove(&id);
        Some(id)
    }

    /// The messages that are held, and the calls that are pending, oldest first.
    pub(super) fn all_held(&self) -> Vec<MessageId> {
        let held = self.held.keys().copied();
        let held = held.chain(self.calls.pending());
        let mut held: Vec<_> = held.collect();
        held.sort_unstable();
        held
    }

    pub(super) fn holds(&self, id: MessageId) -> bool {
        self.all_held().contains(&id)
    }

    pub(super) fn send(
        &mut self,
        to: Peer,
        id: MessageId,
        what: SentKind,
        method: String,
        body: Result<Json, Error>,
    ) {
        self.sent.push(SentMessage {
            to,
            id,
            what,
            method,
            body,
        });
    }

    /// Records a request that waits for its answer.
    fn expect(
        &mut self,
        id: MessageId,
        to: Peer,
        method: &str,
        session: Option<String>,
        own: bool,
    ) {
        let request = OutstandingRequest {
            to,
            method: method.to_owned(),
            session,
            own,
        };
        self.asked.insert(id, request);
    }

    fn pass(&mut self, message: Message) {
        let head = &message.head;
        let to = opposite(head.sender);
        let what = match message.kind {
            Kind::Request => {
                self.expect(head.id, to, &head.method, head.session.clone(), false);
                SentKind::Request
            }
            Kind::Notification => SentKind::Notification,
            Kind::Response if self.waits(head) => return self.waiting.push(message),
            Kind::Response => SentKind::Response,
        };
        self.send(to, head.id, what, message.head.method, message.body);
    }

    /// Whether a message with this head may be a part of a history that the agent replays: a request that opens its
    /// session, or forks it, is not answered yet.
    pub(super) fn may_replay(&self, head: &Head) -> bool {
        let mut asked = self.asked.values();
        asked.any(|asked| {
            Life::of(&asked.method).has_history()
                && asked.to == head.sender
                && asked.session == head.session
        })
    }

    /// Whether a response must wait for a held notification of its session and direction.
    fn waits(&self, response: &Head) -> bool {
        self.held.values().any(|held| {
            held.kind == Kind::Notification
                && held.head.sender == response.sender
                && held.head.session == response.session
        })
    }

    fn respond(&mut self, to: Peer, request: Message, body: Result<Json, Error>) {
        let Head { id, method, .. } = request.head;
        self.send(to, id, SentKind::Response, method, body);
    }
}

pub(super) fn opposite(peer: Peer) -> Peer {
    match peer {
        Peer::Client => Peer::Agent,
        Peer::Agent => Peer::Client,
    }
}
