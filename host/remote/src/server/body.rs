//! Reads the bodies of requests.

use std::time::Duration;

use acp_chain_rpc::{Message, aside};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::account::Account;
use super::connection::Connection;
use super::metrics::{Figures, Refusal};
use super::reply::{Answer, busy, malformed, plain};

/// A message of fewer bytes is copied.
const SHORT: usize = 16 * 1024;

/// How long a body may pause.
const BODY: Duration = Duration::from_secs(30);

/// The message of a body, or the answer to a malformed one. It is read at the user's pace, and as long as it is
/// incomplete, it takes its length of the room for all users and of that for this one.
pub async fn read(
    mut body: Incoming,
    longest: usize,
    room: &Semaphore,
    account: &Account,
    figures: &Figures,
    connection: Option<&Connection>,
) -> Result<Message, Box<Answer>> {
    let too_long = || {
        let words = format!("a message has {longest} bytes at most here");
        Box::new(plain(StatusCode::PAYLOAD_TOO_LARGE, &words))
    };
    let rooms = [room, &account.bodies];
    let taken = rooms.iter().map(|room| room.try_acquire_many(0).ok());
    let mut taken: Vec<_> = taken.flatten().collect();
    if body.size_hint().lower() > longest as u64 {
        return Err(too_long());
    }
    let mut parts: Option<Bytes> = None;
    let mut text = BytesMut::new();
    loop {
        let frame = match timeout(BODY, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                let answer = plain(StatusCode::BAD_REQUEST, "the body breaks off");
                return Err(Box::new(answer));
            }
            Err(_) => {
                let words = "the rest of the body does not come";
                return Err(Box::new(plain(StatusCode::REQUEST_TIMEOUT, words)));
            }
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if text.len() + parts.as_ref().map_or(0, Bytes::len) + data.len() > longest {
            return Err(too_long());
        }
        let more = u32::try_from(data.len()).unwrap_or(u32::MAX);
        for (room, taken) in rooms.iter().zip(&mut taken) {
            let Ok(more) = room.try_acquire_many(more) else {
                figures.refused(Refusal::Bodies);
                let words = "too much is being sent at once";
                return Err(Box::new(busy(StatusCode::SERVICE_UNAVAILABLE, words)));
            };
            taken.merge(more);
        }
        let len = data.len();
        // Most arrive in one piece, which need not be copied.
        match parts.take() {
            None if text.is_empty() => parts = Some(data),
            None => text.extend_from_slice(&data),
            Some(first) => {
                text.extend_from_slice(&first);
                text.extend_from_slice(&data);
            }
        }
        match connection {
            Some(connection) => connection.pace(len).await,
            None => sleep(account.pause(len)).await,
        }
    }
    let text = match parts {
        // A short one must not keep the whole buffer alive that it was read into.
        Some(part) if part.len() < SHORT => Bytes::copy_from_slice(&part),
        Some(part) => part,
        None => text.freeze(),
    };
    aside(text.len(), || Message::parse(text))
        .map_err(|error| Box::new(malformed(&error.to_error())))
}
