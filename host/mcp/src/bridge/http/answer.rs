//! In which form a request is answered: as JSON where the answer comes soon and alone, and else as a
//! stream of events.
//!
//! Clients bound the length of events more tightly than that of bodies. But no client waits for the
//! head of a stream that will be long in coming.

use std::time::Duration;

use hyper::StatusCode;

use super::accepts::Accepts;
use super::reply::{self, Form, Response};
use crate::bridge::registry::Attachment;
use acp_chain_rpc::Message;

/// How soon an answer has to come so as not to be a stream.
pub const SOON: Duration = Duration::from_millis(250);

/// Answers from a place; an answer that comes within this time has its own status. If nothing ever
/// comes there, the place is given back.
pub async fn answer(
    mut place: Attachment,
    accepts: Accepts,
    within: Duration,
    status_of: impl Fn(&Message) -> StatusCode,
) -> Result<Response, Attachment> {
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
