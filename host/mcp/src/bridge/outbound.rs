//! The way of messages out to one client.
//!
//! Messages put into an [`Outbound`] come out of its [`OutboundEnd`] in order, followed by the end once the former is
//! dropped. Bytes on the way are charged to the link until they are taken, and to all links until they are written.

use std::ops::Deref;
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use super::message::OutboundMessage;
use super::window::Event;
use acp_chain_channel::limits::{Account, Charge};

/// A message on its way.
#[derive(Debug)]
pub struct Sent {
    outgoing: OutboundMessage,
    /// The name of its event, if its client may resume after it.
    pub event: Option<Event>,
    /// On the account of its link, until somebody takes it.
    waiting: Option<Charge>,
    /// On that of all links, until it is dropped: it is written then.
    _unread: Option<Charge>,
}

impl Sent {
    /// A message, with its charge on the account of all links.
    pub fn new(outgoing: OutboundMessage, unread: Option<Charge>) -> Self {
        Self {
            outgoing,
            event: None,
            waiting: None,
            _unread: unread,
        }
    }

    /// Charges it to this account while it waits.
    pub fn waits(&mut self, account: &Account) {
        self.waiting = Some(account.charge_anyway(self.outgoing.cost()));
    }

    fn taken(mut self) -> Self {
        self.waiting = None;
        self
    }
}

impl Deref for Sent {
    type Target = OutboundMessage;

    fn deref(&self) -> &OutboundMessage {
        &self.outgoing
    }
}

/// Where messages go in.
pub type Outbound = mpsc::UnboundedSender<Sent>;

/// Where messages come out.
#[derive(Debug)]
pub struct OutboundEnd {
    messages: mpsc::UnboundedReceiver<Sent>,
    ended: bool,
}

/// The way to a client.
pub fn outbound() -> (Outbound, OutboundEnd) {
    let (outbound, messages) = mpsc::unbounded_channel();
    let ended = false;
    (outbound, OutboundEnd { messages, ended })
}

impl OutboundEnd {
    /// Waits for the next message; none at the end. Cancel safe.
    pub async fn next(&mut self) -> Option<Sent> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The next message, if it is there.
    pub fn try_next(&mut self) -> Option<Sent> {
        self.messages.try_recv().ok().map(Sent::taken)
    }

    /// [`OutboundEnd::next`], by hand.
    pub fn poll_next(&mut self, context: &mut Context) -> Poll<Option<Sent>> {
        let next = self.messages.poll_recv(context);
        self.ended |= matches!(next, Poll::Ready(None));
        next.map(|sent| sent.map(Sent::taken))
    }

    /// Whether somebody has waited for the next message and found the end.
    pub fn has_ended(&self) -> bool {
        self.ended
    }
}
