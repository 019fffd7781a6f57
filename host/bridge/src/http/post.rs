//! POST: the messages of a client. The headers or the body determine the form of the transport.

use acp_chain_http::answer::{EVENTS, JSON};
use acp_chain_http::body::{self, BodyError};
use acp_chain_http::headers::{CODED, is_coded, media_type, single};
use hyper::body::Incoming;
use hyper::{StatusCode, header};

use super::reply::{self, Refusal, refuse, unavailable};
use super::{AnswerResult, ClientRequest, SESSION, VERSION, modern, sessions};
use crate::connections::{FULL, Load};
use crate::inbound::Inbound;
use crate::registry::Registry;
use acp_chain_channel::limits;
use acp_chain_mcp::protocol::{self, Version};

impl ClientRequest<'_> {
    pub(super) async fn post(&self, body: Incoming) -> AnswerResult {
        let headers = &self.headers;
        if media_type(headers).as_deref() != Some(JSON) {
            let why = format!("the header Content-Type has to be {JSON}");
            return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &why));
        }
        if is_coded(headers) {
            let refusal = refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, CODED);
            return Err(refusal.named(header::ACCEPT_ENCODING, "identity"));
        }
        if !self.accepts.events && !self.accepts.json {
            let why = format!("the header Accept has to name {EVENTS} and {JSON}");
            return Err(refuse(StatusCode::NOT_ACCEPTABLE, &why));
        }
        let (inbound, load) = read(&self.visit.registry, body).await?;
        let version = single(headers, &VERSION);
        let version = version.map_err(|why| refuse(StatusCode::BAD_REQUEST, &why.to_string()))?;
        let has_batches = version.is_none_or(|version| version == Version::V2025March.as_str());
        if matches!(inbound, Inbound::Batch(_)) && !has_batches {
            return Err(sessions::no_batches());
        }
        let names_session = headers.contains_key(&SESSION);
        match inbound {
            Inbound::One(message) if !names_session && modern::is_meant(headers, &message) => {
                self.ask(message, load).await
            }
            // A session that it names is ignored: it may be from an earlier run.
            Inbound::One(message) if modern::is_initialize(&message) => {
                self.begin(message, load).await
            }
            // If it names no session, reports that.
            inbound => self.go_on(inbound, load).await,
        }
    }
}

/// Reads and parses a body. The load counts until its messages are received by their link.
async fn read(registry: &Registry, body: Incoming) -> Result<(Inbound, Load), Refusal> {
    let mut load = registry.load();
    let text = body::read(body, limits::MCP_MESSAGE, &mut load).await;
    let text = text.map_err(|why| match why {
        BodyError::NoRoom => {
            registry.rejected(FULL);
            let why = format!("{FULL}; try again");
            unavailable(protocol::code::LIMIT, &why, None)
        }
        _ => refuse(why.status(), &why.to_string()),
    })?;
    let inbound = Inbound::read(text);
    let inbound = inbound.map_err(|error| reply::error(StatusCode::BAD_REQUEST, None, &error))?;
    Ok((inbound, load))
}
