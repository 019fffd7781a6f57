//! A remote agent over HTTP: a request for each outgoing message, and streams of events for incoming ones, one for
//! the connection and one for each session (RFD streamable-http-websocket-transport).
//!
//! Invariants:
//! - A broken stream is reopened after the last received event. If the server does not number its events, something
//!   may be lost, and the connection ends with an error.
//! - A message whose request broke is resent with the same key, if the server accepts each key only once.
//! - Every request gets an answer: where only a session fails, its open requests are answered with errors.
//!
//! | file | what it is |
//! |---|---|
//! | `mod` | outgoing messages: the order of requests, and retries |
//! | `streams` | incoming messages: streams, and how they are resumed |
//! | `open` | the open state: sessions, and requests of both sides |

mod open;
mod streams;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acp_chain_acp::Life;
use acp_chain_rpc::transport::Frame;
use acp_chain_rpc::{Error, Id, Kind, Message, Mutex, code, one_line, read};
use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::open::{Open, Refusal};
use super::ends::{AgentEvent, Inbox, Link};
use super::error::{Cause, RemoteError};
use super::patience::Patience;
use super::web::{Web, is_of_gateway, requested_pause};
use crate::wire::{CONNECTION, IDEMPOTENCY, RESUME, SESSION, failure};

/// How long to wait for the server at the end.
const CLOSING: Duration = Duration::from_secs(5);

/// A connection over HTTP.
pub struct Connection {
    web: Web,
    limit: usize,
    inbox: Inbox,
    /// The connection's properties from the answer to `initialize`.
    handshake: OnceLock<Handshake>,
    open: Mutex<Open>,
    /// The error with which the connection has ended.
    failed: OnceLock<RemoteError>,
    /// The key of the next message.
    key: AtomicU64,
    streams: Mutex<JoinSet<()>>,
}

struct Handshake {
    connection: HeaderValue,
    /// Whether the server ignores repeated messages, and keeps events that streams lose.
    resumes: bool,
}

impl Connection {
    pub fn new(web: Web, limit: usize, inbox: Inbox) -> Self {
        Self {
            web,
            limit,
            inbox,
            handshake: OnceLock::new(),
            open: Mutex::default(),
            failed: OnceLock::new(),
            key: AtomicU64::new(0),
            streams: Mutex::default(),
        }
    }

    fn resumes(&self) -> bool {
        let handshake = self.handshake.get();
        handshake.is_some_and(|handshake| handshake.resumes)
    }

    /// Adds the headers that identify the connection and session of a request.
    fn of(&self, request: RequestBuilder, session: Option<&HeaderValue>) -> RequestBuilder {
        let request = match self.handshake.get() {
            Some(handshake) => request.header(CONNECTION, &handshake.connection),
            None => request,
        };
        match session {
            Some(session) => request.header(SESSION, session),
            None => request,
        }
    }

    /// Begins the connection with the first message.
    async fn begin(
        self: &Arc<Self>,
        line: Bytes,
        message: Option<&Message>,
    ) -> Result<(), RemoteError> {
        if message.is_none_or(|message| &**message.method() != "initialize") {
            return Err(self.web.error(Cause::NotInitialize));
        }
        let answer = self.post(&line, None).await??;
        let headers = answer.headers();
        let Some(connection) = headers.get(CONNECTION).cloned() else {
            // An error in answer to `initialize` has no connection.
            let body = self.body(answer).await?;
            let refusal = read(Frame::Line(body.clone())).ok();
            if refusal.is_none_or(|refusal| refusal.kind() != Kind::Error) {
                let why = Cause::NotAcp("its answer names no connection");
                return Err(self.web.error(why));
            }
            let _ = self.inbox.send(AgentEvent::Message(one_line(body))).await;
            return Ok(());
        };
        let resumes = headers.get(RESUME).is_some_and(|value| value == "1");
        let body = self.body(answer).await?;
        let handshake = Handshake {
            connection,
            resumes,
        };
        // Set only here, and one message is sent at a time.
        let _ = self.handshake.set(handshake);
        let _ = self.inbox.send(AgentEvent::Message(one_line(body))).await;
        self.follow(None);
        Ok(())
    }

    /// The whole body of an answer.
    async fn body(&self, mut answer: Response) -> Result<Bytes, RemoteError> {
        let mut body = BytesMut::new();
        let broken = |error: reqwest::Error| self.web.broken(&error);
        while let Some(part) = answer.chunk().await.map_err(broken)? {
            if body.len() + part.len() > self.limit {
                return Err(self.web.error(Cause::TooLong(self.limit)));
            }
            body.extend_from_slice(&part);
        }
        Ok(body.freeze())
    }

    /// Hands a message to the server, with retries where that is safe. The inner error is that the server rejects the
    /// message.
    async fn post(
        &self,
        line: &Bytes,
        session: Option<&HeaderValue>,
    ) -> Result<Result<Response, Refusal>, RemoteError> {
        let key = format!("\"{}\"", self.key.fetch_add(1, Ordering::Relaxed));
        let mut patience = Patience::default();
        loop {
            let posted = self.web.send(Method::POST, |request| {
                let request = request.header(CONTENT_TYPE, "application/json");
                let request = request.header(IDEMPOTENCY, &key).body(line.clone());
                self.of(request, session)
            });
            let answer = match posted.await {
                Ok(answer) => answer,
                Err(_) if self.resumes() && patience.pause().await => continue,
                Err(error) => return Err(self.given_up(&error)),
            };
            let status = answer.status();
            if status.is_success() {
                return Ok(Ok(answer));
            }
            if let Some(pause) = requested_pause(&answer)
                && patience.wait(pause).await
            {
                continue;
            }
            if is_of_gateway(status) && self.resumes() && patience.pause().await {
                continue;
            }
            let error = self.web.refused(answer).await;
            return match status {
                StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::NOT_FOUND
                | StatusCode::GONE => Err(error),
                _ => Ok(Err(Refusal { status, error })),
            };
        }
    }

    /// The error of a request after all retries.
    fn given_up(&self, error: &reqwest::Error) -> RemoteError {
        let error = self.web.broken(error);
        if self.resumes() {
            error.after_retries()
        } else {
            error
        }
    }

    /// Hands a message of a connection that has begun to the server.
    async fn hand(
        self: &Arc<Self>,
        line: Bytes,
        message: Option<Message>,
    ) -> Result<(), RemoteError> {
        let Some(message) = message else {
            // The server reports the problem.
            self.post(&line, None).await??;
            return Ok(());
        };
        let id = message.id();
        let mut session = match message.kind() {
            Kind::Request | Kind::Notification => message.session().cloned(),
            Kind::Result | Kind::Error => id
                .as_ref()
                .and_then(|id| self.open.lock().agent_requests.remove(id)),
        };
        if let Some(name) = session.clone() {
            let opened = self.opened(&name).await?;
            match opened {
                Ok(()) => {}
                // The session is unknown to the server until it is loaded; the answer is sent on the connection's
                // stream.
                Err(refusal)
                    if refusal.is_unknown() && Life::of(message.method()).has_history() =>
                {
                    session = None;
                }
                Err(refusal) => return self.refuse(&message, None, refusal).await,
            }
        }
        // If its stream is open, its name is valid in a header.
        let header = session.as_ref();
        let header = header.and_then(|name| HeaderValue::from_bytes(name.as_bytes()).ok());
        let is_request = message.kind() == Kind::Request;
        if let Some(id) = id.clone().filter(|_| is_request) {
            self.open
                .lock()
                .note_request(id, session.clone(), message.method());
        }
        match self.post(&line, header.as_ref()).await? {
            Ok(_) => Ok(()),
            Err(refusal) => {
                if refusal.status == StatusCode::CONFLICT
                    && let Some(name) = &session
                {
                    self.fail_session(name, &refusal.error).await;
                    return Ok(());
                }
                self.refuse(&message, header.as_ref(), refusal).await
            }
        }
    }

    /// Handles a message that the server rejects: a request is answered with an error, an answer to the agent is
    /// replaced by an error, and a notification is dropped.
    async fn refuse(
        &self,
        message: &Message,
        session: Option<&HeaderValue>,
        refusal: Refusal,
    ) -> Result<(), RemoteError> {
        match (message.kind(), message.id()) {
            (Kind::Request, Some(id)) => {
                self.open.lock().requests.remove(&id);
                self.answer(&id, &refusal.error).await;
                Ok(())
            }
            // The session is unusable for our client.
            _ if refusal.status == StatusCode::CONFLICT || refusal.is_unknown() => Ok(()),
            _ if !refusal.status.is_client_error() => Err(refusal.error),
            (Kind::Result, Some(id)) => {
                let error = failure(&id, &internal(&refusal.error));
                self.post(&error, session).await??;
                Ok(())
            }
            _ => {
                tracing::warn!(
                    "dropped a message that the server rejected: {}",
                    refusal.error
                );
                Ok(())
            }
        }
    }

    /// Answers all open requests of a session with an error.
    async fn fail_session(&self, session: &str, error: &RemoteError) {
        let waiting = self.open.lock().fail(session);
        for id in waiting {
            self.answer(&id, error).await;
        }
    }

    async fn answer(&self, id: &Id, error: &RemoteError) {
        let line = failure(id, &internal(error));
        let _ = self.inbox.send(AgentEvent::Message(line)).await;
    }

    /// Ends with an error.
    async fn fail(&self, error: RemoteError) {
        let _ = self.failed.set(error.clone());
        let _ = self.inbox.send(AgentEvent::End(Err(error))).await;
    }
}

impl Link for Connection {
    async fn send(self: Arc<Self>, line: Bytes) -> Result<(), RemoteError> {
        if let Some(error) = self.failed.get() {
            return Err(error.clone());
        }
        let message = Message::parse(line.clone()).ok();
        match self.handshake.get() {
            None => self.begin(line, message.as_ref()).await,
            Some(_) => self.hand(line, message).await,
        }
    }

    async fn end(self: Arc<Self>) {
        if self.handshake.get().is_some() && self.failed.get().is_none() {
            let request = self
                .web
                .send(Method::DELETE, |request| self.of(request, None));
            let _ = timeout(CLOSING, request).await;
        }
        let mut streams = std::mem::take(&mut *self.streams.lock());
        streams.shutdown().await;
        let _ = self.inbox.send(AgentEvent::End(Ok(()))).await;
    }
}

fn internal(error: &RemoteError) -> Error {
    Error::new(code::INTERNAL_ERROR, error.to_string())
}
