//! POST: the messages of a client. Their headers or bodies show the form of the transport.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::{Request, StatusCode, header};

use super::accepts::{Accepts, essence};
use super::refusals::unavailable;
use super::reply::{self, Refusal, refuse};
use super::{
    Answer, EVENTS, JSON, SESSION, VERSION, Visit, WITH_SESSIONS, modern, sessions, single,
};
use crate::ServerId;
use crate::bridge::inbound::Inbound;
use crate::bridge::load::{FULL, Load};
use crate::bridge::registry::Registry;
use crate::protocol;
use acp_chain_channel::limits;
use acp_chain_rpc::{Error, code};

/// How long a body may take.
const BODY: Duration = Duration::from_secs(30);

/// Answers a POST.
pub async fn post(visit: &Visit, server: ServerId, request: Request<Incoming>) -> Answer {
    let (parts, body) = request.into_parts();
    let headers = &parts.headers;
    let content_type = single(headers, header::CONTENT_TYPE.as_str())
        .ok()
        .flatten();
    if content_type.is_none_or(|given| essence(given) != JSON) {
        let why = format!("the header Content-Type has to be {JSON}");
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &why));
    }
    let accepts = Accepts::of(headers);
    if !accepts.events && !accepts.json {
        let why = format!("the header Accept has to name {EVENTS} and {JSON}");
        return Err(refuse(StatusCode::NOT_ACCEPTABLE, &why));
    }
    let (heard, load) = heard(&visit.registry, body).await?;
    let invalid = |why: &str| {
        let error = Error::new(code::INVALID_REQUEST, why);
        reply::error(StatusCode::BAD_REQUEST, None, &error)
    };
    let named = single(headers, VERSION).map_err(|why| invalid(&why))?;
    if matches!(heard, Inbound::Batch(_)) && named.is_some_and(|named| named != WITH_SESSIONS[0]) {
        return Err(sessions::no_batches());
    }
    match heard {
        heard if headers.contains_key(SESSION) => {
            sessions::go_on(visit, server, headers, accepts, heard, load).await
        }
        Inbound::One(message) if modern::is_meant(headers, &message) => {
            modern::ask(visit, server, headers, accepts, message, load).await
        }
        Inbound::One(message) if modern::is_initialize(&message) => {
            sessions::begin(visit, server, accepts, message, load).await
        }
        // Reports that a session is missing.
        heard => sessions::go_on(visit, server, headers, accepts, heard, load).await,
    }
}

/// Reads a body, without taking in its messages yet.
async fn heard(registry: &Registry, body: Incoming) -> Result<(Inbound, Load), Refusal> {
    if body.size_hint().lower() > limits::MCP_MESSAGE as u64 {
        return Err(too_large());
    }
    let mut load = registry.load();
    let read = tokio::time::timeout(BODY, collect(registry, body, &mut load));
    let text = read.await.unwrap_or_else(|_| {
        let why = "the body came too slowly";
        Err(refuse(StatusCode::REQUEST_TIMEOUT, why))
    })?;
    let heard = Inbound::read(text);
    let heard = heard.map_err(|error| reply::error(StatusCode::BAD_REQUEST, None, &error))?;
    Ok((heard, load))
}

/// The bytes of a body, in a buffer of their own: those in which they arrive are larger.
async fn collect(
    registry: &Registry,
    mut body: Incoming,
    load: &mut Load,
) -> Result<Bytes, Refusal> {
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            tracing::debug!("an MCP client's request broke off: {error}");
            refuse(StatusCode::BAD_REQUEST, "the body broke off")
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if text.len() + data.len() > limits::MCP_MESSAGE {
            return Err(too_large());
        }
        text.extend_from_slice(&data);
        if !load.holds(text.capacity()) {
            registry.turned_away(FULL);
            let why = format!("{FULL}; try again");
            return Err(unavailable(protocol::code::LIMIT, &why, None));
        }
    }
    text.shrink_to_fit();
    load.holds(text.len());
    Ok(text.into())
}

fn too_large() -> Refusal {
    let why = format!("a message may have {} bytes", limits::MCP_MESSAGE);
    refuse(StatusCode::PAYLOAD_TOO_LARGE, &why)
}
