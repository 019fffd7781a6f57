//! The way of messages out to one client.
//!
//! What is put into a [`Lane`] comes out of its [`LaneEnd`], in order, and then the end of the lane
//! once the lane is dropped. Bytes that are on the way count for the link, also while nobody takes
//! them; and for all links, until they are written.

use std::ops::Deref;
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use super::letter::Letter;
use super::window::Event;
use crate::limits::{Account, Charge};

/// A letter on its way.
#[derive(Debug)]
pub struct Sent {
    letter: Letter,
    /// The name of the event that it is, where its client may come back for it.
    pub event: Option<Event>,
    /// On the account of its link, until somebody takes it.
    waiting: Option<Charge>,
    /// On that of all links, until it is dropped: it is written then.
    _unread: Option<Charge>,
}

impl Sent {
    /// A letter, with what it is charged for on the account of all links.
    pub fn new(letter: Letter, unread: Option<Charge>) -> Self {
        Self {
            letter,
            event: None,
            waiting: None,
            _unread: unread,
        }
    }

    /// It waits, on this account.
    pub fn waits(&mut self, account: &Account) {
        self.waiting = Some(account.charge_anyway(self.letter.cost()));
    }

    fn taken(mut self) -> Self {
        self.waiting = None;
        self
    }
}

impl Deref for Sent {
    type Target = Letter;

    fn deref(&self) -> &Letter {
        &self.letter
    }
}

/// Where letters go in.
pub type Lane = mpsc::UnboundedSender<Sent>;

/// Where letters come out.
#[derive(Debug)]
pub struct LaneEnd(mpsc::UnboundedReceiver<Sent>);

/// A lane of a client.
pub fn lane() -> (Lane, LaneEnd) {
    let (lane, letters) = mpsc::unbounded_channel();
    (lane, LaneEnd(letters))
}

impl LaneEnd {
    /// Waits for the next letter; none at the end of the lane. Cancel safe.
    pub async fn next(&mut self) -> Option<Sent> {
        self.0.recv().await.map(Sent::taken)
    }

    /// The next letter, if it is there.
    pub fn try_next(&mut self) -> Option<Sent> {
        self.0.try_recv().ok().map(Sent::taken)
    }

    /// [`LaneEnd::next`], by hand.
    pub fn poll_next(&mut self, context: &mut Context) -> Poll<Option<Sent>> {
        self.0.poll_recv(context).map(|sent| sent.map(Sent::taken))
    }
}
