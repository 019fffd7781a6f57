//! The form of a response: JSON if the answer arrives soon and no message precedes it, otherwise a stream of events.
//!
//! Clients limit the length of events more tightly than that of bodies, so JSON is preferred. But a client should not
//! wait long for the head of a response.

use std::time::Duration;

use acp_chain_http::Answer;
use acp_chain_http::headers::Accepts;
use hyper::StatusCode;

use super::reply::{self, Form};
use crate::bridge::registry::Attachment;
use acp_chain_rpc::Message;

/// How long a response waits for the answer before it becomes a stream.
pub const SOON: Duration = Duration::from_millis(250);

/// Answers with the messages of an attachment. If the first arrives within this time, it determines the status. If the
/// attachment's stream has ended without a message, returns the attachment.
pub async fn answer(
    mut place: Attachment,
    accepts: Accepts,
    within: Duration,
    status_of: impl Fn(&Message) -> StatusCode,
) -> Result<Answer, Attachment> {
    let first = if accepts.events {
        tokio::time::timeout(within, place.outbound.next()).await
    } else {
        Ok(place.outbound.next().await)
    };
    let first = match first {
        Err(_) => return Ok(reply::stream(place, Form::Events, None)),
        Ok(None) => return Err(place),
        Ok(Some(first)) => first,
    };
    let status = status_of(&first.message);
    let alone = first.message.kind().is_response() && accepts.json;
    let form = if alone || !accepts.events || status != StatusCode::OK {
        Form::Answer
    } else {
        Form::Events
    };
    let mut response = reply::stream(place, form, Some(first));
    *response.status_mut() = status;
    Ok(response)
}
