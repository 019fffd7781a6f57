//! The form in which a request is answered: JSON if the answer comes soon and alone, otherwise a stream of events.
//!
//! Clients limit the length of events more tightly than that of bodies. But no client should have to wait long for
//! the head of a response.

use std::time::Duration;

use acp_chain_http::Answer;
use acp_chain_http::headers::Accepts;
use hyper::StatusCode;

use super::reply::{self, Form};
use crate::bridge::registry::Attachment;
use acp_chain_rpc::Message;

/// How soon an answer must come not to be sent as a stream.
pub const SOON: Duration = Duration::from_millis(250);

/// Answers from an attachment; an answer that comes within this time has its own status. If nothing can come there
/// any more, the attachment is returned.
pub async fn answer(
    mut place: Attachment,
    accepts: Accepts,
    within: Duration,
    status_of: impl Fn(&Message) -> StatusCode,
) -> Result<Answer, Attachment> {
    let first = match accepts.events {
        true => tokio::time::timeout(within, place.outbound.next()).await,
        false => Ok(place.outbound.next().await),
    };
    let first = match first {
        Err(_) => return Ok(reply::stream(place, Form::Events, None)),
        Ok(None) => return Err(place),
        Ok(Some(first)) => first,
    };
    let status = status_of(&first.message);
    let alone = first.message.kind().is_response() && accepts.json;
    let form = match alone || !accepts.events || status != StatusCode::OK {
        true => Form::Answer,
        false => Form::Events,
    };
    let mut response = reply::stream(place, form, Some(first));
    *response.status_mut() = status;
    Ok(response)
}
