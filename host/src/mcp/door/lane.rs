//! The way of messages out to one client.
//!
//! What is put into a [`Lane`] comes out of its [`LaneEnd`], in order, and then the end of the lane
//! once the lane is dropped. Bytes that are on the way count for the link, also while nobody takes
//! them, and until the end is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use crate::rpc::{Id, Message, Outbox};

/// What a message costs beside its bytes.
const OVERHEAD: usize = 256;

/// A message to a client, and the id that it has there.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The message.
    pub message: Message,
    /// In place of the message's own id.
    pub id: Option<Box<str>>,
}

impl Letter {
    /// The id with which it arrives.
    pub fn id(&self) -> Option<Id> {
        match &self.id {
            Some(id) => Id::parse(id),
            None => self.message.id(),
        }
    }

    /// Writes it as one line.
    pub fn write(&self, out: &mut Outbox) {
        self.message.write(self.id.as_deref(), out);
    }

    fn cost(&self) -> usize {
        self.message.len() + OVERHEAD
    }
}

/// How many bytes wait for a client, on all its lanes.
#[derive(Clone, Debug, Default)]
pub struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    /// How many there are.
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// One more letter waits.
    pub fn add(&self, letter: &Letter) {
        self.0.fetch_add(letter.cost(), Ordering::Relaxed);
    }

    /// One letter less.
    pub fn subtract(&self, letter: &Letter) {
        self.0.fetch_sub(letter.cost(), Ordering::Relaxed);
    }
}

/// Where letters go in. They are counted before.
#[derive(Debug)]
pub struct Lane {
    letters: mpsc::UnboundedSender<Letter>,
    waiting: Waiting,
}

/// Where letters come out.
#[derive(Debug)]
pub struct LaneEnd {
    letters: mpsc::UnboundedReceiver<Letter>,
    waiting: Waiting,
}

/// A lane of a client.
pub fn lane(waiting: &Waiting) -> (Lane, LaneEnd) {
    let (sender, letters) = mpsc::unbounded_channel();
    let lane = Lane {
        letters: sender,
        waiting: waiting.clone(),
    };
    let waiting = waiting.clone();
    (lane, LaneEnd { letters, waiting })
}

impl Lane {
    /// Sends a letter that has been counted. It is lost if nobody will ever take it.
    pub fn put(&self, letter: Letter) {
        if let Err(lost) = self.letters.send(letter) {
            self.waiting.subtract(&lost.0);
        }
    }
}

impl LaneEnd {
    /// Waits for the next letter; none at the end of the lane. Cancel safe.
    pub async fn next(&mut self) -> Option<Letter> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The next letter, if it is there.
    pub fn try_next(&mut self) -> Option<Letter> {
        let letter = self.letters.try_recv().ok()?;
        self.waiting.subtract(&letter);
        Some(letter)
    }

    /// [`LaneEnd::next`], by hand.
    pub fn poll_next(&mut self, context: &mut Context) -> Poll<Option<Letter>> {
        let polled = self.letters.poll_recv(context);
        if let Poll::Ready(Some(letter)) = &polled {
            self.waiting.subtract(letter);
        }
        polled
    }
}

impl Drop for LaneEnd {
    fn drop(&mut self) {
        self.letters.close();
        while self.try_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_until_it_is_taken_or_nobody_will_take_it() {
        let waiting = Waiting::default();
        let (lane, mut end) = lane(&waiting);
        let letter = Letter {
            message: Message::notification("m", "{}"),
            id: None,
        };
        for _ in 0..3 {
            waiting.add(&letter);
            lane.put(letter.clone());
        }
        let all = waiting.bytes();
        assert!(end.try_next().is_some());
        assert_eq!(waiting.bytes(), all / 3 * 2);
        drop(end);
        assert_eq!(waiting.bytes(), 0);
        waiting.add(&letter);
        lane.put(letter);
        assert_eq!(waiting.bytes(), 0);
    }
}
