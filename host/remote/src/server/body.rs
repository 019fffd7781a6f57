//! Reads the messages in the bodies of requests, at the rate of their user, and within the room for incomplete
//! messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acp_chain_http::answer::{Answer, plain};
use acp_chain_http::body::{self, BodyError, Budget};
use acp_chain_rpc::transport::lenient;
use acp_chain_rpc::{Message, aside};
use hyper::body::Incoming;
use tokio::sync::Semaphore;

use super::account::Account;
use super::answers::Answers;
use super::connection::Connection;
use super::metrics::Refusal;
use super::reply::{busy, malformed};

/// The room that an incomplete message takes: of that for all users, and of that for its user.
pub struct Room {
    bodies: Arc<Semaphore>,
    account: Arc<Account>,
    taken: AtomicUsize,
}

impl Room {
    /// None yet, of the room for all users and that of an account.
    pub fn new(bodies: Arc<Semaphore>, account: Arc<Account>) -> Self {
        Self {
            bodies,
            account,
            taken: AtomicUsize::new(0),
        }
    }

    /// Takes room for more bytes. False if there is none.
    pub fn take(&self, bytes: usize) -> bool {
        let more = u32::try_from(bytes).unwrap_or(u32::MAX);
        let taken = [&*self.bodies, &self.account.bodies].map(|room| room.try_acquire_many(more));
        let [Ok(of_all), Ok(of_user)] = taken else {
            return false;
        };
        of_all.forget();
        of_user.forget();
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    /// The message is complete.
    pub fn give_back(&self) {
        let taken = self.taken.swap(0, Ordering::Relaxed);
        self.bodies.add_permits(taken);
        self.account.bodies.add_permits(taken);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The budget of a body.
struct Share<'r> {
    room: &'r Room,
    connection: Option<&'r Connection>,
}

impl Budget for Share<'_> {
    async fn take(&mut self, more: usize) -> bool {
        if !self.room.take(more) {
            return false;
        }
        match self.connection {
            Some(connection) => connection.pace(more).await,
            None => tokio::time::sleep(self.room.account.pause(more)).await,
        }
        true
    }
}

/// The message of a body, or the answer to a malformed one.
pub async fn read(
    answers: &Answers,
    body: Incoming,
    longest: usize,
    account: Arc<Account>,
    connection: Option<&Connection>,
) -> Result<Message, Box<Answer>> {
    let room = Room::new(answers.bodies.clone(), account);
    let mut share = Share {
        room: &room,
        connection,
    };
    let text = body::read(body, longest, &mut share).await.map_err(|why| {
        let (status, words) = (why.status(), why.to_string());
        Box::new(match why {
            BodyError::NoRoom => {
                answers.registry.figures.refused(Refusal::Bodies);
                busy(status, &words)
            }
            _ => plain(status, &words),
        })
    })?;
    aside(text.len(), || lenient::one(text)).map_err(|error| Box::new(malformed(&error)))
}
