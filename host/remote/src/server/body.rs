//! Reads the messages in the bodies of requests: at the rate of their user. While incomplete, they take room of that
//! for all users and of that for their user.

use acp_chain_http::answer::{Answer, plain};
use acp_chain_http::body::{self, BodyError, Budget};
use acp_chain_rpc::{Message, aside};
use hyper::body::Incoming;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::account::Account;
use super::connection::Connection;
use super::metrics::{Figures, Refusal};
use super::reply::{busy, malformed};

/// The part of a room, in bytes, that one body takes.
struct Part<'r> {
    room: &'r Semaphore,
    taken: Option<SemaphorePermit<'r>>,
}

impl Part<'_> {
    fn grow(&mut self, more: usize) -> bool {
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let Ok(more) = self.room.try_acquire_many(more) else {
            return false;
        };
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            nothing => *nothing = Some(more),
        }
        true
    }
}

struct Share<'r> {
    parts: [Part<'r>; 2],
    account: &'r Account,
    connection: Option<&'r Connection>,
}

impl Budget for Share<'_> {
    async fn take(&mut self, more: usize) -> bool {
        if !self.parts.iter_mut().all(|part| part.grow(more)) {
            return false;
        }
        match self.connection {
            Some(connection) => connection.pace(more).await,
            None => tokio::time::sleep(self.account.pause(more)).await,
        }
        true
    }
}

/// The message of a body, or the answer to a malformed one.
pub async fn read(
    body: Incoming,
    longest: usize,
    room: &Semaphore,
    account: &Account,
    figures: &Figures,
    connection: Option<&Connection>,
) -> Result<Message, Box<Answer>> {
    let mut share = Share {
        parts: [room, &account.bodies].map(|room| Part { room, taken: None }),
        account,
        connection,
    };
    let text = body::read(body, longest, &mut share).await.map_err(|why| {
        let (status, words) = (why.status(), why.to_string());
        Box::new(match why {
            BodyError::NoRoom => {
                figures.refused(Refusal::Bodies);
                busy(status, &words)
            }
            _ => plain(status, &words),
        })
    })?;
    aside(text.len(), || Message::parse(text))
        .map_err(|error| Box::new(malformed(&error.to_error())))
}
