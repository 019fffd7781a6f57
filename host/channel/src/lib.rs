//! The channel between the host and one proxy, whatever the proxy is made of.
//!
//! An [`Event`] goes in, a list of [`Effect`]s and at most one [`Action`] come out. The
//! [`Ledger`] stands between: it knows which messages the proxy may name and what it is granted,
//! and lets nothing through that the proxy has no right to. So what reaches the chain is always
//! valid.

#![forbid(unsafe_code)]

mod check;
mod failure;
mod ledger;
pub mod limits;
mod offer;
mod subscription;
mod work;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

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

/// What powers tell a message apart by. The method of a response is that of the request.
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

/// The same, as far as a grant tells messages apart when they are to be seen: of an update it need not
/// be looked for what it is of.
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

/// What a proxy is told.
#[derive(Clone, Debug)]
pub enum Event {
    /// A request, notification or response, by the kind of its message.
    Message(Delivery),
    /// The answer to a request of the proxy's own. Its action means nothing.
    Answer(Delivery),
    /// The sender of this held request, or the caller in this call, has withdrawn it.
    Cancel(MessageId),
    /// What it has of this is wanted, for this session. It answers with an object: `instructions`, and
    /// what there is.
    List(Offer, Option<Arc<str>>),
    /// Something that it has is called: the request is MCP's.
    Call(Delivery),
}

/// What a proxy wants to become of a message. Texts are JSON, or are to be.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Goes on unchanged, byte for byte.
    Forward,
    /// Goes on with these changes to its body, made one after the other.
    Edit(Vec<Edit>),
    /// Goes on with this body in place of its own.
    Replace(String),
    /// A request: answered with this result.
    Respond(String),
    /// A request: answered with this error. A response: goes on as this error.
    Reject(rpc::Error),
    /// A notification: goes no further.
    Discard,
    /// Kept until the proxy settles it.
    Hold,
}

/// A change to one place of a body.
#[derive(Clone, Debug)]
pub struct Edit {
    /// A JSON Pointer (RFC 6901), see [`rpc::edit`].
    pub pointer: String,
    /// The new value, as JSON text; `None` removes what is there.
    pub value: Option<String>,
}

/// What becomes of a message: a [`Decision`] that the [`Ledger`] found right, with all that is
/// needed to carry it out.
#[derive(Clone, Debug)]
pub enum Action {
    /// Goes on unchanged, byte for byte.
    Forward,
    /// This goes on in its place.
    Replace(Message),
    /// A request: this is its answer.
    Answer(Message),
    /// A notification: goes no further.
    Discard,
    /// Kept until the proxy settles it.
    Hold,
}

/// What a proxy did while it handled an event, in the order in which it did it.
#[derive(Clone, Debug)]
pub enum Effect {
    /// It asks a neighbour.
    Request {
        /// The proxy's number for its request.
        id: MessageId,
        /// Whom it asks.
        to: Peer,
        /// The request.
        message: Message,
    },
    /// It tells a neighbour.
    Notify {
        /// Whom it tells.
        to: Peer,
        /// The notification.
        message: Message,
    },
    /// It settles a held message. The action is not [`Action::Hold`].
    Settle {
        /// The held message.
        id: MessageId,
        /// What becomes of it.
        action: Action,
    },
    /// It gives up on a held message.
    Fail {
        /// The held message.
        id: MessageId,
        /// Why, in its own words.
        reason: String,
    },
    /// It withdraws a request of its own.
    Cancel {
        /// The number of its request.
        id: MessageId,
    },
    /// It asks the caller in a call.
    Ask {
        /// The proxy's number for its request.
        id: MessageId,
        /// The call.
        call: MessageId,
        /// The request, of MCP's.
        message: Message,
    },
    /// It says how far a call has come.
    Progress {
        /// The call.
        id: MessageId,
        /// How far.
        progress: Progress,
    },
    /// Something that it has for the agent is another now.
    Changed(Change),
}

/// How far a call has come (MCP, `notifications/progress`).
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report.
    pub progress: f64,
    /// What it reaches in the end, if that is known.
    pub total: Option<f64>,
    /// For people.
    pub message: Option<String>,
}

/// What a notification of the host's takes beside what a proxy puts into it, in bytes.
const NOTIFICATION: usize = 256;

impl Effect {
    /// The bytes of message that it brings with it.
    fn size(&self) -> usize {
        match self {
            Self::Request { message, .. }
            | Self::Ask { message, .. }
            | Self::Notify { message, .. }
            | Self::Settle {
                action: Action::Replace(message) | Action::Answer(message),
                ..
            } => message.len(),
            // It becomes a notification.
            Self::Progress { progress, .. } => {
                NOTIFICATION + progress.message.as_ref().map_or(0, String::len)
            }
            // They become one for each who is to be told.
            Self::Changed(Change::Resource(uri)) => NOTIFICATION + uri.len(),
            Self::Changed(Change::List(_)) => NOTIFICATION,
            Self::Settle { .. } | Self::Fail { .. } | Self::Cancel { .. } => 0,
        }
    }
}

/// What came of one call.
#[derive(Debug)]
pub struct Reply {
    /// What the proxy did, in its order; nothing if it broke.
    pub effects: Vec<Effect>,
    /// The state that it saved, if it did.
    pub saved: Option<String>,
    /// What it returned.
    pub outcome: Outcome,
}

/// What a proxy returned.
#[derive(Debug)]
pub enum Outcome {
    /// This becomes of the message. The action is one that the message can take.
    Decided(Action),
    /// There was nothing to decide.
    Told,
    /// It could not decide, for this reason.
    Refused(String),
    /// It broke, and is of no more use.
    Broke(Failure),
}

/// A call that goes on. It gives the part back with its reply.
pub type Call = Pin<Box<dyn Future<Output = (Box<dyn Part>, Reply)> + Send>>;

/// A proxy, whatever it is made of. It handles one event at a time.
pub trait Part: Send {
    /// A number for a message that is about to be delivered.
    fn allot(&mut self) -> MessageId;

    /// Takes a held message away from the proxy, which can no longer settle it.
    fn take_away(&mut self, id: MessageId);

    /// Lets the proxy handle an event. The future yields while the proxy is busy, and must not
    /// be dropped before it is done, or the proxy is lost.
    fn call(self: Box<Self>, event: Event) -> Call;

    /// What it did that it had no right to.
    fn tally(&self) -> Tally;

    /// What of that is new since this was asked last.
    fn untold(&mut self) -> Tally;
}

/// A proxy that has started.
pub struct Started {
    /// The proxy.
    pub part: Box<dyn Part>,
    /// What it says of itself.
    pub registration: Registration,
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Started")
            .field("registration", &self.registration)
            .finish_non_exhaustive()
    }
}

/// A start that goes on.
pub type Starting = Pin<Box<dyn Future<Output = Result<Started, Failure>> + Send>>;

/// What a proxy is made from, as often as it takes.
pub trait Source: Send {
    /// Starts a proxy whose messages are numbered from `first` on, with the state that an earlier
    /// one saved.
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting;

    /// Where it is seen how much memory the proxy has that was started last, in bytes, if that is known.
    fn memory(&self) -> Option<Arc<AtomicUsize>> {
        None
    }
}
