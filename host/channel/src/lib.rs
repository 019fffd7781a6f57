//! The channel between the host and one proxy of any kind.
//!
//! A call takes an [`Event`], and returns a list of [`Effect`]s and at most one [`Action`]. The [`Ledger`] checks them:
//! it has the messages to which the proxy may refer, and the proxy's powers, and rejects everything else. So all
//! effects and actions that reach the chain are valid.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod doubts;
mod failure;
mod ledger;
pub mod limits;
mod offer;
mod values;
mod work;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

pub use acp_chain_powers::{
    Actions, FailurePolicy, Grant, Kinds, Pattern, PatternError, Peer, Subject, Subscription,
};
pub use failure::{Failure, Tally};
pub use ledger::{ChannelError, Ledger};
pub use offer::{CAPABILITIES, Change, Offer, Offers, capability};
pub use values::Owner;

use acp_chain_rpc::{self as rpc, Kind, Message};

/// The host's number for one message at one proxy. Never reused.
pub type MessageId = u64;

/// A message for a proxy.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The proxy's number for the message; for a response, that of the request, if the proxy has seen it.
    pub id: MessageId,
    /// The side that sent it.
    pub sender: Peer,
    /// Its method; for a response, that of the request.
    pub method: Arc<str>,
    /// The session that it belongs to.
    pub session: Option<Arc<str>>,
    /// The message itself.
    pub message: Message,
    /// Whether the proxy gets the body with the message.
    pub with_body: bool,
    /// Whether a guard has decided about the message, so that only guards may change it.
    pub sealed: bool,
    /// Whether the agent may have replayed it, see [`Subject::is_replayed`].
    pub is_replayed: bool,
}

/// The subject of a message, by which powers distinguish messages. The method of a response is that of the request.
pub fn subject<'a>(message: &Message, sender: Peer, method: &'a str) -> Subject<'a> {
    let is_update = method == "session/update" && message.kind() == Kind::Notification;
    Subject {
        sender,
        kind: message.kind(),
        method,
        update: is_update.then(|| message.update()).flatten(),
        is_replayed: false,
    }
}

/// The subject of a message, as far as needed to decide whether a proxy sees it: the kind of an update is looked up
/// only if the grant distinguishes updates.
pub fn seen_subject<'a>(
    grant: &Grant,
    message: &Message,
    sender: Peer,
    method: &'a str,
    is_replayed: bool,
) -> Subject<'a> {
    if grant.tells_updates_apart() {
        Subject {
            is_replayed,
            ..subject(message, sender, method)
        }
    } else {
        Subject {
            sender,
            kind: message.kind(),
            method,
            update: None,
            is_replayed,
        }
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
    /// The proxy's offers of this kind are listed, for this session. The answer is an object with `instructions` and
    /// the offers.
    List(Offer, Option<Arc<str>>),
    /// One of the proxy's offers is called, by this MCP request.
    Call(Delivery),
}

/// A proxy's decision about a message. The [`Ledger`] checks that texts are JSON.
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
    /// Answers a request with this error, or replaces a response by it.
    Reject(rpc::Error),
    /// Drops a notification.
    Discard,
    /// Holds the message until the proxy settles it.
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
    /// The message is passed on unchanged, byte for byte.
    Forward,
    /// This message is passed on instead.
    Replace(Message),
    /// The request is answered with this message.
    Answer(Message),
    /// The notification is dropped.
    Discard,
    /// The message is held until the proxy settles it.
    Hold,
}

/// Effects of a proxy's call, in order.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The proxy sends a neighbour a request.
    Request {
        /// The proxy's number for its request.
        id: MessageId,
        /// The receiver.
        to: Peer,
        /// The request.
        message: Message,
    },
    /// The proxy sends a neighbour a notification.
    Notify {
        /// The receiver.
        to: Peer,
        /// The notification.
        message: Message,
    },
    /// The proxy settles a held message. The action is not [`Action::Hold`].
    Settle {
        /// The held message.
        id: MessageId,
        /// The action for it.
        action: Action,
    },
    /// The proxy fails on a held message.
    Fail {
        /// The held message.
        id: MessageId,
        /// The proxy's own reason.
        reason: String,
    },
    /// The proxy requests to be called again after a pause.
    Wake {
        /// The proxy's number for the pause.
        id: MessageId,
        /// The length of the pause.
        after: Duration,
    },
    /// The proxy loads a stored value.
    Load {
        /// The proxy's number for its request.
        id: MessageId,
        /// Whose value it is.
        of: Owner,
        /// The key.
        key: String,
    },
    /// The proxy stores a value, or removes it.
    Store {
        /// The proxy's number for its request.
        id: MessageId,
        /// Whose value it is.
        of: Owner,
        /// The key.
        key: String,
        /// The version that is replaced; 0 if there is none.
        version: u64,
        /// The value; `None` removes it.
        value: Option<String>,
    },
    /// The proxy cancels its own request, or a pause.
    Cancel {
        /// The number of the request or the pause.
        id: MessageId,
    },
    /// The proxy sends a request to the caller during a call.
    Ask {
        /// The proxy's number for its request.
        id: MessageId,
        /// The call.
        call: MessageId,
        /// The MCP request.
        message: Message,
    },
    /// The proxy reports the progress of a call.
    Progress {
        /// The call.
        id: MessageId,
        /// The progress.
        progress: Progress,
    },
    /// The proxy's offers to the agent have changed.
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
    /// The bytes of the messages and values in the effect.
    fn size(&self) -> usize {
        match self {
            Self::Request { message, .. }
            | Self::Ask { message, .. }
            | Self::Notify { message, .. }
            | Self::Settle {
                action: Action::Replace(message) | Action::Answer(message),
                ..
            } => message.len(),
            // Progress is sent as a notification.
            Self::Progress { progress, .. } => {
                NOTIFICATION + progress.message.as_ref().map_or(0, String::len)
            }
            // Each receiver gets one.
            Self::Changed(Change::Resource(uri)) => NOTIFICATION + uri.len(),
            Self::Changed(Change::List(_)) => NOTIFICATION,
            Self::Load { of, key, .. } => size_of_key(of, key),
            Self::Store { of, key, value, .. } => {
                size_of_key(of, key) + value.as_ref().map_or(0, String::len)
            }
            Self::Settle { .. } | Self::Fail { .. } | Self::Wake { .. } | Self::Cancel { .. } => 0,
        }
    }
}

/// The bytes that say which value is meant.
fn size_of_key(of: &Owner, key: &str) -> usize {
    key.len() + of.session().map_or(0, |session| session.len())
}

/// The outcome of one call.
#[derive(Debug)]
pub struct Reply {
    /// The proxy's effects, in order; none if it broke.
    pub effects: Vec<Effect>,
    /// The state that it saved, if it did.
    pub saved: Option<String>,
    /// The result.
    pub outcome: Outcome,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The action for the message, which is possible for it.
    Decided(Action),
    /// There was nothing to decide.
    Told,
    /// The proxy could not decide, for this reason.
    Refused(String),
    /// The proxy broke, and is unusable.
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

    /// Calls the proxy with an event. The future yields while the proxy is busy; dropping it before it resolves drops
    /// the proxy.
    fn call(self: Box<Self>, event: Event) -> Call;

    /// The counts of rejected calls.
    fn tally(&self) -> Tally;

    /// The increase of these counts since the last call of this function.
    fn untold(&mut self) -> Tally;
}

/// What a proxy declares when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// Its subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// Its failure policy, which the manifest may override.
    pub on_failure: FailurePolicy,
    /// Its offers to the agent.
    pub offers: Offers,
    /// Whether others rely on its decisions, so that it must be next to the agent.
    pub guard: bool,
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

/// Starts instances of a proxy.
pub trait Source: Send {
    /// Starts an instance whose messages are numbered from `first` on, with the state that an earlier instance saved.
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting;

    /// The memory of the last started instance, in bytes, if it is measured.
    fn memory(&self) -> Option<Arc<AtomicUsize>> {
        None
    }

    /// Whether there are so many instances in this process that idle ones should be dropped soon.
    fn is_crowded(&self) -> bool {
        false
    }
}
