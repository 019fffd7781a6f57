//! Sessions (MCP 2025-03-26, 2025-06-18, 2025-11-25): each is a link, from `initialize` to DELETE. A client that
//! disconnects keeps its session; unused sessions are evicted for new ones.

use acp_chain_http::answer::{EVENTS, bare, named};
use acp_chain_http::headers::{WrongHeader, single};
use hyper::StatusCode;

use super::reply::{self, Form, Refusal, SOON, answer, refuse, server_closed};
use super::{AnswerResult, ClientRequest, LAST_EVENT, SESSION, VERSION, Visit, not_allowed};
use crate::connections::Load;
use crate::inbound::Inbound;
use crate::link::LinkKind;
use crate::outbound::QueuedMessage;
use crate::stream::Role;
use acp_chain_mcp::LinkId;
use acp_chain_mcp::param_headers::ParamHeaders;
use acp_chain_mcp::protocol::{CANCELLED, Version};
use acp_chain_mcp::secret::Secret;
use acp_chain_rpc::{self as rpc, Error, Id, Kind, Message};

impl ClientRequest<'_> {
    /// POST with `initialize`: begins a session, if the server accepts it.
    pub(super) async fn begin(&self, message: Message, load: Load) -> AnswerResult {
        let key = Secret::new().map_err(|error| {
            tracing::error!("cannot begin an MCP session: {error}");
            refuse(StatusCode::INTERNAL_SERVER_ERROR, "cannot begin a session")
        })?;
        let shape = LinkKind::Session {
            key: key.reveal().into(),
            settled: false,
        };
        let id = message.id();
        let (link, mut place) = self.admit(shape, &message)?;
        let registry = &self.visit.registry;
        registry
            .receive(link, message, ParamHeaders::default())
            .await;
        drop(load);
        // The head of the response has the session id only if the server accepts the session, so wait for the answer.
        let mut said = Vec::new();
        while !said.last().is_some_and(is_response) {
            let next = place.outbound.next().await;
            said.push(next.ok_or_else(|| server_closed(id.as_ref()))?);
        }
        let last = said.last();
        let begun = last.is_some_and(|last| last.message.kind() == Kind::Result);
        let is_one = self.accepts.json && said.len() == 1 || !self.accepts.events;
        let form = if is_one { Form::Answer } else { Form::Events };
        let answer = reply::stream(place, form, said);
        Ok(if begun {
            named(answer, SESSION.clone(), key.reveal())
        } else {
            answer
        })
    }

    /// Any other POST: messages in a session. Requests are answered on the returned stream.
    pub(super) async fn go_on(&self, inbound: Inbound, load: Load) -> AnswerResult {
        let (link, registry) = (self.session()?, &self.visit.registry);
        let is_batch = matches!(inbound, Inbound::Batch(_));
        if is_batch && !registry.takes_batches(link) {
            return Err(no_batches());
        }
        let messages = inbound.into_messages();
        let id = messages.iter().find_map(Message::id);
        let is_request = |message: &Message| message.kind() == Kind::Request;
        let asks = messages.iter().any(is_request);
        let place = asks.then(|| self.open_for(link, &messages)).transpose()?;
        for message in messages {
            let withdrawn = withdrawn(&message);
            if !registry
                .receive(link, message, ParamHeaders::default())
                .await
            {
                return Err(unknown_session());
            }
            if let Some(id) = withdrawn {
                registry.withdrawn(link, &id);
            }
        }
        drop(load);
        let Some(mut place) = place else {
            return Ok(bare(StatusCode::ACCEPTED));
        };
        match (is_batch, self.accepts.events) {
            (true, true) => Ok(reply::stream(place, Form::Events, None)),
            (true, false) => match place.outbound.next().await {
                Some(first) => Ok(reply::stream(place, Form::Answers, Some(first))),
                None if registry.is_open(link) => Ok(reply::stream(place, Form::Answers, None)),
                None => Err(unknown_session()),
            },
            (false, _) => match answer(place, self.accepts, SOON, |_| StatusCode::OK).await {
                Ok(response) => Ok(response),
                // All requests were cancelled, and the server sent no answer.
                Err(place) if self.accepts.events => Ok(reply::stream(place, Form::Events, None)),
                // But every POST must be answered.
                Err(_) if registry.is_open(link) => {
                    let cancelled = Error::cancelled();
                    Err(reply::error(StatusCode::OK, id.as_ref(), &cancelled))
                }
                Err(_) => Err(unknown_session()),
            },
        }
    }

    /// GET: opens a stream for messages that belong to no request, or resumes a lost stream. If the lost stream is
    /// unknown, or a missed message is no longer kept, the client gets a new stream.
    pub(super) fn listen(&self) -> AnswerResult {
        let link = self.session()?;
        if !self.accepts.events {
            let why = format!("the header Accept has to name {EVENTS}");
            return Err(refuse(StatusCode::NOT_ACCEPTABLE, &why));
        }
        let last = single(&self.headers, &LAST_EVENT).ok().flatten();
        let last = last.and_then(|last| last.parse().ok());
        let Visit { registry, cut, .. } = self.visit;
        let place = match last.and_then(|last| registry.resume(link, last, cut)) {
            Some(place) => place,
            None => self.open(link, Role::Listening, None)?,
        };
        Ok(reply::stream(place, Form::Events, None))
    }

    /// DELETE: closes a session.
    pub(super) fn delete(&self) -> AnswerResult {
        self.visit.registry.close(self.session()?);
        Ok(bare(StatusCode::NO_CONTENT))
    }

    /// The session that the request names.
    fn session(&self) -> Result<LinkId, Refusal> {
        let bad = |why: &str| refuse(StatusCode::BAD_REQUEST, why);
        let wrong = |wrong: WrongHeader| bad(&wrong.to_string());
        let version = single(&self.headers, &VERSION).map_err(wrong)?;
        let version = version.map(Version::named);
        let Some(key) = single(&self.headers, &SESSION).map_err(wrong)? else {
            return Err(match version {
                Some(Some(Version::Stateless)) => not_allowed("POST"),
                _ => {
                    bad("the header Mcp-Session-Id is missing; a session begins with `initialize`")
                }
            });
        };
        // 2024-11-05 and 2026-07-28 have no sessions, but some clients name the one, and a server may negotiate the
        // other.
        if version == Some(None) {
            return Err(bad(
                "the header MCP-Protocol-Version names an unknown version",
            ));
        }
        let session = self.visit.registry.session(self.server, key);
        session.ok_or_else(unknown_session)
    }
}

fn is_response(outgoing: &QueuedMessage) -> bool {
    outgoing.message.kind().is_response()
}

/// The refusal of a batch.
pub fn no_batches() -> Refusal {
    reply::error(StatusCode::BAD_REQUEST, None, &Inbound::no_batches())
}

fn unknown_session() -> Refusal {
    let why = "the session is unknown or closed; begin another with `initialize`";
    refuse(StatusCode::NOT_FOUND, why)
}

/// The id of the request that a `notifications/cancelled` names.
fn withdrawn(message: &Message) -> Option<Id> {
    if message.kind() == Kind::Notification && &**message.method() == CANCELLED {
        rpc::member(message.body(), "requestId").and_then(Id::parse)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use acp_chain_http::headers::Accepts;
    use http_body_util::BodyExt;
    use hyper::HeaderMap;

    use super::*;
    use crate::BridgeKind;
    use crate::registry::Registry;
    use acp_chain_channel::limits::Account;

    #[tokio::test]
    async fn a_client_without_streams_that_cancels_its_call_keeps_its_session() {
        let registry = Registry::new(&Account::new(1 << 24));
        registry.offer(1, BridgeKind::Http).unwrap();
        let shape = LinkKind::Session {
            key: "k".into(),
            settled: true,
        };
        registry.admit(1, shape).unwrap();
        let visit = Visit {
            registry: Arc::new(registry),
            port: 0,
            visitor: Arc::default(),
            cut: Arc::default(),
        };
        let mut headers = HeaderMap::new();
        headers.insert(&SESSION, "k".parse().unwrap());
        let request = ClientRequest {
            visit: &visit,
            server: 1,
            accepts: Accepts {
                events: false,
                json: true,
            },
            headers,
        };
        let says = async |text: &'static str| {
            let said = Inbound::read(text.into()).unwrap();
            let answer = request.go_on(said, visit.registry.load()).await;
            let answer = answer.unwrap_or_else(Refusal::into_answer);
            let status = answer.status();
            (status, answer.collect().await.unwrap().to_bytes())
        };
        let call = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t"}}"#;
        let cancels =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}"#;
        let ((status, called), _) = tokio::join!(says(call), says(cancels));
        assert_eq!(
            (status, &*called),
            (
                StatusCode::OK,
                br#"{"jsonrpc":"2.0","id":"c","error":{"code":-32800,"message":"Request cancelled"}}"#
                    .as_slice()
            )
        );
        assert!(visit.registry.session(1, "k").is_some());
    }
}
