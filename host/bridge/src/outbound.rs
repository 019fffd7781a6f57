//! Messages to clients, and the queue of those to one client.
//!
//! Messages sent to an [`Outbound`] are received from its [`OutboundEnd`] in order, followed by the end once the
//! `Outbound` is dropped. A message is charged to its link until it is received, and to all links until it is written.

use std::ops::Deref;
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use super::window::Event;
use acp_chain_channel::limits::{Account, Charge};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Id, Message};

/// The cost of a message beside its bytes.
const OVERHEAD: usize = 256;

/// A message to a client, and its id there.
#[derive(Clone, Debug)]
pub struct OutboundMessage {
    pub message: Message,
    /// Replaces the message's own id, if present.
    pub id: Option<Box<str>>,
}

impl OutboundMessage {
    /// The id that the client receives.
    pub fn id(&self) -> Option<Id> {
        let own = || self.message.id();
        self.id.as_ref().map_or_else(own, |id| Id::parse(id))
    }

    /// Writes the message as one line.
    pub fn write(&self, out: &mut Outbox) {
        self.message.write(self.id.as_deref(), out);
    }

    /// The charge while the message waits, in bytes.
    pub fn cost(&self) -> usize {
        self.message.cost() + OVERHEAD
    }
}

/// A queued message.
#[derive(Debug)]
pub struct QueuedMessage {
    outgoing: OutboundMessage,
    /// The message's event, if the client can resume after it.
    pub event: Option<Event>,
    /// The charge to its link, until the message is received.
    waiting: Option<Charge>,
    /// The charge to all links. It is dropped with the message, once that is written.
    _unread: Option<Charge>,
}

impl QueuedMessage {
    /// `unread` is the charge to the account of all links.
    pub fn new(outgoing: OutboundMessage, unread: Option<Charge>) -> Self {
        Self {
            outgoing,
            event: None,
            waiting: None,
            _unread: unread,
        }
    }

    /// Charges the message to this account while it waits.
    pub fn waits(&mut self, account: &Account) {
        self.waiting = Some(account.charge_anyway(self.outgoing.cost()));
    }

    fn taken(mut self) -> Self {
        self.waiting = None;
        self
    }
}

impl Deref for QueuedMessage {
    type Target = OutboundMessage;

    fn deref(&self) -> &OutboundMessage {
        &self.outgoing
    }
}

/// The sending half of the queue.
pub type Outbound = mpsc::UnboundedSender<QueuedMessage>;

/// The receiving half of the queue.
#[derive(Debug)]
pub struct OutboundEnd {
    messages: mpsc::UnboundedReceiver<QueuedMessage>,
    /// The event with which the stream begins, in versions that require one.
    pub beginning: Option<Event>,
    /// Whether `next` or `poll_next` has returned the end.
    pub ended: bool,
}

/// A new queue.
pub fn outbound() -> (Outbound, OutboundEnd) {
    let (outbound, messages) = mpsc::unbounded_channel();
    let end = OutboundEnd {
        messages,
        beginning: None,
        ended: false,
    };
    (outbound, end)
}

impl OutboundEnd {
    /// Waits for the next message; `None` at the end. Cancel safe.
    pub async fn next(&mut self) -> Option<QueuedMessage> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The next message, if one is queued.
    pub fn try_next(&mut self) -> Option<QueuedMessage> {
        self.messages.try_recv().ok().map(QueuedMessage::taken)
    }

    /// Polls [`OutboundEnd::next`].
    pub fn poll_next(&mut self, context: &mut Context) -> Poll<Option<QueuedMessage>> {
        let next = self.messages.poll_recv(context);
        self.ended |= matches!(next, Poll::Ready(None));
        next.map(|sent| sent.map(QueuedMessage::taken))
    }
}
