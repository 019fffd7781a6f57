//! The channel between the host and one proxy of any kind.
//!
//! An [`Event`] goes in, a list of [`Effect`]s and at most one [`Action`] come out. The [`Ledger`] stands between: it
//! knows which messages the proxy may refer to and what it is granted, and rejects everything else. So whatever reaches
//! the chain is valid.

#![forbid(unsafe_code)]

mod check;
mod doubts;
mod failure;
mod ledger;
pub mod limits;
mod offer;
mod subscription;
mod work;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

pub use acp_chain_powers::{Actions, Grant, Kinds, Pattern, PatternError, Peer, Subject};
pub use failure::{Failure, FailurePolicy, Tally};
pub use ledger::{ChannelError, Ledger};
pub use offer::{CAPABILITIES, Change, Offer, Offers, capability};
pub use subscription::{Registration, Subscription};

use acp_chain_rpc::{self as rpc, Kind, Message};

/// The host's number for one message at one proxy. Never used twice.
pub type MessageId = u64;

/// One message as a proxy gets it.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The proxy's number for it; for a response, that of the request, if the proxy knows it.
    pub id: MessageId,
    /// Who sent it.
    pub sender: Peer,
    /// Its method; for a response, that of the request.
    pub method: Arc<str>,
    /// The session that it belongs to.
    pub session: Option<Arc<str>>,
    /// The message itself.
    pub message: Message,
    /// Whether the proxy wants the body with it.
    pub with_body: bool,
    /// Whether a guard has decided about it, so that nobody else may alter it.
    pub sealed: bool,
}

/// The subject of a message, by which powers distinguish messages. The method of a response is that of the request.
#[must_use]
pub fn subject<'a>(message: &Message, sender: Peer, method: &'a str) -> Subject<'a> {
    let is_update = method == "session/update" && message.kind() == Kind::Notification;
    Subject {
        sender,
        kind: message.kind(),
        method,
        update: is_update.then(|| message.update()).flatten(),
    }
}

/// The same, as far as needed to decide whether a message is seen: the kind of an update is not looked up.
#[must_use]
pub fn seen_subject<'a>(
    grant: &Grant,
    message: &Message,
    sender: Peer,
    method: &'a str,
) -> Subject<'a> {
    match grant.tells_updates_apart() {
        true => subject(message, sender, method),
        false => Subject {
            sender,
            kind: message.kind(),
            method,
            update: None,
        },
    }
}

/// An event for a proxy.
#[derive(Clone, Debug)]
pub enum Event {
    /// A request, notification or response, by the kind of its message.
    Message(Delivery),
    /// The answer to the proxy's own request. The returned action is ignored.
    Answer(Delivery),
    /// The sender of this held request, or the caller in this call, has cancelled it.
    Cancel(MessageId),
    /// Its offers of this kind are listed, for this session. It answers with an object: `instructions`, and the offers.
    List(Offer, Option<Arc<str>>),
    /// One of its offers is called: the request is MCP's.
    Call(Delivery),
}

/// A proxy's decision about a message. Texts should be JSON.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Passes it on unchanged, byte for byte.
    Forward,
    /// Passes it on with these changes to its body, in order.
    Edit(Vec<Edit>),
    /// Passes it on with this body.
    Replace(String),
    /// Answers a request with this result.
    Respond(String),
    /// Answers a request with this error, or turns a response into it.
    Reject(rpc::Error),
    /// Drops a notification.
    Discard,
    /// Keeps it until the proxy settles it.
    Hold,
}

/// A change to one place of a body.
#[derive(Clone, Debug)]
pub struct Edit {
    /// A JSON Pointer (RFC 6901), see [`rpc::edit`].
    pub pointer: String,
    /// The new value, as JSON text; `None` removes the old one.
    pub value: Option<String>,
}

/// What happens to a message: a [`Decision`] that the [`Ledger`] has accepted, with everything needed to carry it out.
#[derive(Clone, Debug)]
pub enum Action {
    /// It is passed on unchanged, byte for byte.
    Forward,
    /// This is passed on instead.
    Replace(Message),
    /// A request is answered with this.
    Answer(Message),
    /// A notification is dropped.
    Discard,
    /// It is kept until the proxy settles it.
    Hold,
}

/// Effects of a proxy's call, in order.
#[derive(Clone, Debug)]
pub enum Effect {
    /// It sends a neighbour a request.
    Request {
        /// The proxy's number for its request.
        id: MessageId,
        /// The receiver.
        to: Peer,
        /// The request.
        message: Message,
    },
    /// It sends a neighbour a notification.
    Notify {
        /// The receiver.
        to: Peer,
        /// The notification.
        message: Message,
    },
    /// It settles a held message. The action is not [`Action::Hold`].
    Settle {
        /// The held message.
        id: MessageId,
        /// The action for it.
        action: Action,
    },
    /// It gives up on a held message.
    Fail {
        /// The held message.
        id: MessageId,
        /// The reason, in its own words.
        reason: String,
    },
    /// It asks to be called again.
    Wake {
        /// The proxy's number for that.
        id: MessageId,
        /// In how long.
        after: Duration,
    },
    /// It cancels its own request.
    Cancel {
        /// The number of its request.
        id: MessageId,
    },
    /// It asks the caller during a call.
    Ask {
        /// The proxy's number for its request.
        id: MessageId,
        /// The call.
        call: MessageId,
        /// The request, of MCP.
        message: Message,
    },
    /// It reports the progress of a call.
    Progress {
        /// The call.
        id: MessageId,
        /// The progress.
        progress: Progress,
    },
    /// Its offers for the agent have changed.
    Changed(Change),
}

/// The progress of a call (MCP, `notifications/progress`).
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report.
    pub progress: f64,
    /// Its final value, if known.
    pub total: Option<f64>,
    /// A text for people.
    pub message: Option<String>,
}

/// The size of a notification of the host beside the proxy's part, in bytes.
const NOTIFICATION: usize = 256;

impl Effect {
    /// The bytes of messages in it.
    fn size(&self) -> usize {
        match self {
            Self::Request { message, .. }
            | Self::Ask { message, .. }
            | Self::Notify { message, .. }
            | Self::Settle {
                action: Action::Replace(message) | Action::Answer(message),
                ..
            } => message.len(),
            // It is sent as a notification.
            Self::Progress { progress, .. } => {
                NOTIFICATION + progress.message.as_ref().map_or(0, String::len)
            }
            // Each receiver gets one.
            Self::Changed(Change::Resource(uri)) => NOTIFICATION + uri.len(),
            Self::Changed(Change::List(_)) => NOTIFICATION,
            Self::Settle { .. } | Self::Fail { .. } | Self::Wake { .. } | Self::Cancel { .. } => 0,
        }
    }
}

/// The outcome of one call.
#[derive(Debug)]
pub struct Reply {
    /// The proxy's effects, in order; none if it broke.
    pub effects: Vec<Effect>,
    /// The state that it saved, if it did.
    pub saved: Option<String>,
    /// What it returned.
    pub outcome: Outcome,
}

/// What a proxy returned.
#[derive(Debug)]
pub enum Outcome {
    /// The action for the message, which is possible for it.
    Decided(Action),
    /// There was nothing to decide.
    Told,
    /// It could not decide, for this reason.
    Refused(String),
    /// It broke, and is unusable.
    Broke(Failure),
}

/// A running call. It returns the part with its reply.
pub type Call = Pin<Box<dyn Future<Output = (Box<dyn Part>, Reply)> + Send>>;

/// A proxy of any kind. It handles one event at a time.
pub trait Part: Send {
    /// A number for a message that is about to be delivered.
    fn allot(&mut self) -> MessageId;

    /// Takes a held message away from the proxy, which can no longer settle it.
    fn take_away(&mut self, id: MessageId);

    /// Lets the proxy handle an event. The future yields while the proxy is busy; dropping it early loses the proxy.
    fn call(self: Box<Self>, event: Event) -> Call;

    /// How often it exceeded its rights.
    fn tally(&self) -> Tally;

    /// The increase since the last call of this.
    fn untold(&mut self) -> Tally;
}

/// A proxy that has started.
pub struct Started {
    /// The proxy.
    pub part: Box<dyn Part>,
    /// Its registration.
    pub registration: Registration,
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Started")
            .field("registration", &self.registration)
            .finish_non_exhaustive()
    }
}

/// A running start.
pub type Starting = Pin<Box<dyn Future<Output = Result<Started, Failure>> + Send>>;

/// Makes a proxy, as often as needed.
pub trait Source: Send {
    /// Starts a proxy whose messages are numbered from `first` on, with the state that an earlier
    /// one saved.
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting;

    /// The memory of the last started proxy, in bytes, if known.
    fn memory(&self) -> Option<Arc<AtomicUsize>> {
        None
    }

    /// Whether there are so many in this process that one without work should make room soon.
    fn is_crowded(&self) -> bool {
        false
    }
}
