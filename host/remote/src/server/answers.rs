//! The answers to requests.

use std::net::SocketAddr;
use std::sync::Arc;

use acp_chain_acp::Scope;
use acp_chain_http::Visitor;
use acp_chain_http::answer::{Answer, JSON, bare, events, named, plain};
use acp_chain_http::headers::{Accepts, CODED, is_coded, media_type};
use acp_chain_rpc::transport::Frame;
use acp_chain_rpc::{Kind, Message};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::sync::Semaphore;

use super::connection::{Connection, Ending};
use super::events::Events;
use super::headers::{About, EXPOSED, allowed, has_plain_end, short};
use super::mailbox::NoStream;
use super::metrics::{Refusal, TransportKind};
use super::registry::Registry;
use super::reply::{busy, json, readiness};
use super::request_log::Log;
use super::routes::DeliveryResult;
use super::shared::Denial;
use super::{Behind, Opened, Settings, body, is_true, websocket};
use crate::gate::{AdmittedUser, Gate, Peer, Rejection, SealedTicket, ticket_name};
use crate::wire::{CONNECTION, IDEMPOTENCY, LAST_EVENT, RESUME, SESSION};

/// The longest `initialize`, in bytes: its sender has no connection yet.
const FIRST: usize = 256 * 1024;

/// The longest key of a message, in bytes.
const KEY: usize = 128;

/// The state shared by all requests.
pub struct Answers {
    pub registry: Arc<Registry>,
    pub gate: Arc<Gate>,
    pub behind: Behind,
    pub settings: Settings,
    /// The room for incomplete messages, in bytes.
    pub bodies: Arc<Semaphore>,
}

impl Answers {
    /// The answer to a request. Web pages of allowed origins may read it.
    pub async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: &Peer,
        visitor: &Visitor,
    ) -> Answer {
        if !has_plain_end(request.headers()) {
            let words = "the only Transfer-Encoding here is `chunked`, once";
            let answer = plain(StatusCode::BAD_REQUEST, words);
            return named(answer, header::CONNECTION, "close");
        }
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut log = Log::new(&request, peer);
        let registry = self.registry.clone();
        let answer = self.respond(request, peer, visitor, &mut log).await;
        let mut answer = answer.unwrap_or_else(|answer| *answer);
        log.write(answer.status(), &registry);
        if let Some(origin) = origin.filter(|_| answer.status() != StatusCode::FORBIDDEN) {
            let headers = answer.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::VARY, HeaderValue::from_static("origin"));
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
        answer
    }

    /// The answer, or an error that rejects the request.
    async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: &Peer,
        visitor: &Visitor,
        log: &mut Log,
    ) -> Result<Answer, Box<Answer>> {
        let path = request.uri().path();
        // Health checks have no credentials.
        match (request.method(), path) {
            (&Method::GET, "/healthz") => {
                return Ok(plain(StatusCode::OK, "the server is running"));
            }
            (&Method::GET, "/readyz") => return Ok(readiness(self.registry.is_draining())),
            _ => {}
        }
        let is_for_ticket = self.settings.endpoint.is_under(path, "/ticket");
        if !self.settings.endpoint.is_at(path) && !is_for_ticket {
            return Ok(bare(StatusCode::NOT_FOUND));
        }
        let (head, body) = request.into_parts();
        let reject = |refused: Rejection| self.reject(&refused);
        if head.method == Method::OPTIONS {
            self.gate.check_site(&head, peer).map_err(reject)?;
            return Ok(allowed());
        }
        let admitted = self.admit(&head, peer).await?;
        visitor.pass();
        log.user = Some(admitted.user.clone());
        if is_for_ticket {
            return Ok(self.ticket(&head, &admitted).await);
        }
        let about = About::of(&head.headers)?;
        log.connection.clone_from(&about.connection);
        log.session.clone_from(&about.session);
        if websocket::is_requested(&head) {
            log.way = TransportKind::WebSocket;
            return self.upgrade(head, body, &admitted, peer).await;
        }
        match head.method {
            Method::POST => self.post(&head, body, &about, &admitted, log).await,
            Method::GET => self.stream(&head.headers, about, admitted).await,
            Method::DELETE => self.delete(&about, &admitted),
            _ => {
                let answer = bare(StatusCode::METHOD_NOT_ALLOWED);
                Ok(named(answer, header::ALLOW, "GET, POST, DELETE"))
            }
        }
    }

    /// Admits a request. Of replicas with a store, a ticket may be of any.
    async fn admit(&self, head: &Parts, peer: &Peer) -> Result<AdmittedUser, Box<Answer>> {
        let reject = |refused: Rejection| Box::new(self.reject(&refused));
        let Some((shared, ticket)) = self.registry.shared().zip(self.gate.offered(head)) else {
            return self.gate.pass(head, peer).map_err(reject);
        };
        self.gate.check_site(head, peer).map_err(reject)?;
        // One that was issued for a certificate is not in the store.
        if let Some(admitted) = self.gate.redeem(ticket) {
            return Ok(admitted);
        }
        let sealed = match ticket_name(ticket) {
            Some(name) => shared.redeem(name).await,
            None => Ok(None),
        };
        let sealed = sealed.map_err(|why| Box::new(self.denied(why)))?;
        self.gate.unseal(ticket, sealed.as_deref()).map_err(reject)
    }

    async fn post(
        &self,
        head: &Parts,
        body: Incoming,
        about: &About,
        admitted: &AdmittedUser,
        log: &mut Log,
    ) -> Result<Answer, Box<Answer>> {
        if media_type(&head.headers).as_deref() != Some(JSON) {
            let words = "Content-Type must be application/json";
            return Ok(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, words));
        }
        if is_coded(&head.headers) {
            let answer = plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, CODED);
            return Ok(named(answer, header::ACCEPT_ENCODING, "identity"));
        }
        if about.connection.is_none() {
            let account = self.registry.account(&admitted.user);
            let message = body::read(self, body, FIRST, account, None).await?;
            log.record(&message);
            return self.begin(message, admitted, log).await;
        }
        let connection = self.connection(about, admitted)?;
        let key = short(&head.headers, &IDEMPOTENCY, KEY)?;
        let repeated = connection.repeated(key);
        // One by one, in order of arrival.
        let _turn = connection.posting.lock().await;
        if key.is_some_and(|key| connection.has_key(key)) {
            return Ok(bare(StatusCode::ACCEPTED));
        }
        let (longest, account) = (self.settings.line, connection.account.clone());
        let read = body::read(self, body, longest, account, Some(&connection));
        let message = tokio::select! {
            message = read => message?,
            // The client has sent the message again: the rest of this body is lost.
            () = repeated => return Ok(bare(StatusCode::REQUEST_TIMEOUT)),
        };
        log.record(&message);
        self.check(&message, about, admitted)?;
        let passage = match self.registry.shared() {
            Some(shared) => {
                let named = about.session.as_deref();
                let passage = shared.admit(&message, named, key, &connection).await;
                Some(passage.map_err(|why| Box::new(self.denied(why)))?)
            }
            None => None,
        };
        let delivered = connection.deliver(Frame::Message(message)).await;
        if let Some(passage) = passage.filter(|_| delivered == DeliveryResult::Passed) {
            passage.pass();
        }
        Ok(match delivered {
            DeliveryResult::Passed | DeliveryResult::Answered => {
                if let Some(key) = key {
                    connection.keep(key);
                }
                bare(StatusCode::ACCEPTED)
            }
            DeliveryResult::TooMany => busy(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests of this connection are open",
            ),
            DeliveryResult::Denied(why) => self.denied(why),
            DeliveryResult::Ended => bare(StatusCode::NOT_FOUND),
        })
    }

    /// The connection that a request names.
    fn connection(
        &self,
        about: &About,
        admitted: &AdmittedUser,
    ) -> Result<Arc<Connection>, Box<Answer>> {
        let missing = || plain(StatusCode::BAD_REQUEST, "Acp-Connection-Id is missing");
        let id = about.connection.as_ref().ok_or_else(missing)?;
        let found = self.registry.find(id, &admitted.user);
        found.ok_or_else(|| Box::new(bare(StatusCode::NOT_FOUND)))
    }

    /// The answer to a message that is rejected, as an error.
    fn check(
        &self,
        message: &Message,
        about: &About,
        admitted: &AdmittedUser,
    ) -> Result<(), Box<Answer>> {
        if message.kind().is_response() {
            return Ok(());
        }
        let wrong = |words| Err(Box::new(plain(StatusCode::BAD_REQUEST, words)));
        match (message.session(), &about.session) {
            (Some(own), Some(named)) if **own != **named => {
                return wrong("Acp-Session-Id is not the message's sessionId");
            }
            (None, None) if Scope::of(message.method()) == Scope::Session => {
                return wrong("Acp-Session-Id and sessionId are missing");
            }
            _ => {}
        }
        let owners = &self.registry.owners;
        let named = about.session.as_deref();
        // A store of replicas knows more, and is asked next.
        let is_alone = self.registry.shared().is_none();
        let is_foreign = || {
            named.is_some_and(|name| owners.is_foreign(name, &admitted.user))
                || owners.are_foreign(message, &admitted.user)
        };
        if is_alone && is_foreign() {
            return Err(Box::new(bare(StatusCode::NOT_FOUND)));
        }
        // Running turns may finish; new ones may not start.
        if message.id().is_some() && self.registry.is_draining() {
            return Err(Box::new(self.no_room(Refusal::Draining)));
        }
        Ok(())
    }

    /// A new connection, with the agent's answer to its first message.
    async fn begin(
        &self,
        message: Message,
        admitted: &AdmittedUser,
        log: &mut Log,
    ) -> Result<Answer, Box<Answer>> {
        let (Some(id), "initialize") = (message.id(), &**message.method()) else {
            let words =
                "Acp-Connection-Id is missing; the first message is the request `initialize`";
            return Ok(plain(StatusCode::BAD_REQUEST, words));
        };
        let opened = self.open(admitted, TransportKind::Http, log.peer).await;
        let connection = opened?;
        log.connection = Some(connection.id.clone());
        let answered = connection.with_routes(|routes| routes.answer_at_once(id));
        self.run(&connection, admitted);
        // A client that disconnects before the answer gets no connection.
        let mut guard = EndOnDrop(Some(connection.clone()));
        let answer = match connection.deliver(Frame::Message(message)).await {
            DeliveryResult::Passed | DeliveryResult::Answered => answered.await.ok(),
            DeliveryResult::TooMany | DeliveryResult::Denied(_) | DeliveryResult::Ended => None,
        };
        let ended = "the agent has ended before it answered";
        let answer = answer.ok_or_else(|| plain(StatusCode::BAD_GATEWAY, ended))?;
        connection.mark_alive();
        let text = Bytes::copy_from_slice(answer.line().as_bytes());
        if answer.kind() == Kind::Error {
            return Ok(json(StatusCode::OK, text));
        }
        guard.0 = None;
        let answer = named(json(StatusCode::OK, text), CONNECTION, &connection.id);
        Ok(named(answer, RESUME, "1"))
    }

    /// Opens a connection for a client of this transport.
    async fn open(
        &self,
        admitted: &AdmittedUser,
        way: TransportKind,
        peer: SocketAddr,
    ) -> Result<Arc<Connection>, Box<Answer>> {
        if !(self.behind.has_room)() {
            return Err(Box::new(self.no_room(Refusal::NoRoom)));
        }
        let slot = match self.registry.shared() {
            Some(shared) => {
                // Other replicas need not be asked about who has too many here.
                let checked = self.registry.check(&admitted.user);
                checked.map_err(|why| Box::new(self.no_room(why)))?;
                let most = self.settings.limits.connections_per_user;
                let counted = shared.slot_of_connection(&admitted.user, most).await;
                counted.map_err(|why| Box::new(self.denied(why)))?
            }
            None => None,
        };
        let id = self.registry.id().map_err(|_| {
            self.registry.figures.refused(Refusal::NoRoom);
            bare(StatusCode::INTERNAL_SERVER_ERROR)
        })?;
        let begun = self.registry.begin(id, &admitted.user, way, peer);
        let connection = begun.map_err(|why| Box::new(self.no_room(why)))?;
        connection.occupy(slot);
        Ok(connection)
    }

    fn no_room(&self, why: Refusal) -> Answer {
        self.registry.figures.refused(why);
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        let own = "your limit of connections is reached";
        let full = "the server's limit of connections is reached";
        match why {
            Refusal::Connections => busy(StatusCode::TOO_MANY_REQUESTS, own),
            Refusal::Draining => busy(unavailable, "this server is about to stop"),
            _ => busy(unavailable, full),
        }
    }

    /// The answer to a client that the gate rejects.
    fn reject(&self, refused: &Rejection) -> Answer {
        self.registry.figures.refused(match refused.status {
            StatusCode::FORBIDDEN => Refusal::Origin,
            StatusCode::MISDIRECTED_REQUEST => Refusal::Host,
            _ => Refusal::Unauthenticated,
        });
        let mut answer = plain(refused.status, refused.why);
        if let Some(challenge) = refused.challenge() {
            let headers = answer.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        answer
    }

    /// Runs the service behind a connection.
    fn run(&self, connection: &Arc<Connection>, admitted: &AdmittedUser) {
        tracing::info!(
            connection = connection.id,
            user = admitted.user.name,
            "a connection begins"
        );
        let mut ending = connection.ending();
        let stop = async move {
            if ending.wait_for(|how| *how == Ending::AtOnce).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let served = (self.behind.serve)(Opened {
            transport: connection.transport(),
            user: admitted.user.clone(),
            stop: Box::pin(stop),
        });
        let over = is_true(admitted.is_over.clone());
        let (connection, registry) = (connection.clone(), self.registry.clone());
        tokio::spawn(async move {
            let mut served = served;
            tokio::select! {
                () = &mut served => {}
                () = over => {
                    tracing::info!(connection = connection.id, "the user is no longer admitted");
                    connection.end(Ending::AtOnce);
                    served.await;
                }
            }
            connection.end(Ending::AtOnce);
            // Its agent has ended, so another replica may serve its sessions.
            connection.give_up();
            registry.remove(&connection);
            tracing::info!(connection = connection.id, "the connection has ended");
        });
    }

    async fn stream(
        &self,
        headers: &HeaderMap,
        about: About,
        admitted: AdmittedUser,
    ) -> Result<Answer, Box<Answer>> {
        if !Accepts::of(headers).events {
            let words = "Accept must name text/event-stream";
            return Ok(plain(StatusCode::NOT_ACCEPTABLE, words));
        }
        let connection = self.connection(&about, &admitted)?;
        let session: Option<Arc<str>> = about.session.map(Arc::from);
        if connection.is_closed() {
            return Ok(bare(StatusCode::NOT_FOUND));
        }
        if let Some(name) = &session {
            self.check_session(name, &admitted).await?;
        }
        let last = short(headers, &LAST_EVENT, KEY)?.map(str::parse::<u64>);
        let no_number = |_| plain(StatusCode::BAD_REQUEST, "Last-Event-ID must be a number");
        let last = last.transpose().map_err(no_number)?;
        let opened = connection.open(session.as_deref(), last);
        let opened = opened.map_err(|why| match why {
            NoStream::Unknown => bare(StatusCode::NOT_FOUND),
            NoStream::Taken => plain(StatusCode::CONFLICT, "this stream already has a reader"),
            NoStream::Forgotten => plain(
                StatusCode::CONFLICT,
                "the events after that one are no longer kept; load the session again",
            ),
        })?;
        let over = is_true(admitted.is_over);
        let name = session.clone();
        let read = Events::new(connection.clone(), session, opened, over);
        let answer = named(events(read), CONNECTION, &connection.id);
        Ok(match name {
            Some(name) => named(answer, SESSION, &name),
            None => answer,
        })
    }

    /// An error if only other users own this session.
    async fn check_session(&self, name: &str, admitted: &AdmittedUser) -> Result<(), Box<Answer>> {
        if let Some(shared) = self.registry.shared() {
            let checked = shared.check(name, &admitted.user).await;
            return checked.map_err(|why| Box::new(self.denied(why)));
        }
        if self.registry.owners.is_foreign(name, &admitted.user) {
            return Err(Box::new(bare(StatusCode::NOT_FOUND)));
        }
        Ok(())
    }

    /// The answer to a message that may not pass, by what the replicas share.
    fn denied(&self, why: Denial) -> Answer {
        why.counted(&self.registry.figures).answer()
    }

    async fn upgrade(
        &self,
        head: Parts,
        body: Incoming,
        admitted: &AdmittedUser,
        peer: &Peer,
    ) -> Result<Answer, Box<Answer>> {
        let answer = websocket::accept(&head.method, &head.headers)?;
        let opened = self.open(admitted, TransportKind::WebSocket, peer.address);
        let connection = opened.await?;
        self.run(&connection, admitted);
        let mut request = Request::from_parts(head, body);
        let upgrade = hyper::upgrade::on(&mut request);
        let over = is_true(admitted.is_over.clone());
        let carried = websocket::carry(
            connection.clone(),
            self.registry.clone(),
            self.bodies.clone(),
            upgrade,
            self.settings.line,
            over,
        );
        let socket = self.registry.socket();
        tokio::spawn(async move {
            carried.await;
            drop(socket);
        });
        Ok(named(answer, CONNECTION, &connection.id))
    }

    /// Issues a ticket, with which a browser opens a WebSocket, as it cannot send headers for that.
    async fn ticket(&self, head: &Parts, admitted: &AdmittedUser) -> Answer {
        if head.method != Method::POST {
            return named(bare(StatusCode::METHOD_NOT_ALLOWED), header::ALLOW, "POST");
        }
        let ticket = match self.registry.shared().zip(self.gate.token(head)) {
            Some((shared, token)) => match SealedTicket::new(token) {
                Some(sealed) => match shared.issue(&sealed, &admitted.user).await {
                    Ok(()) => Some(sealed.ticket),
                    Err(why) => return self.denied(why),
                },
                None => None,
            },
            None => self.gate.ticket(admitted).ok(),
        };
        match ticket {
            Some(ticket) => {
                let text = format!(r#"{{"ticket":"{}"}}"#, ticket.reveal());
                json(StatusCode::OK, text.into())
            }
            None => bare(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    fn delete(&self, about: &About, admitted: &AdmittedUser) -> Result<Answer, Box<Answer>> {
        self.connection(about, admitted)?.end(Ending::Gently);
        Ok(bare(StatusCode::ACCEPTED))
    }
}

/// Ends a connection whose client disconnects before it begins.
struct EndOnDrop(Option<Arc<Connection>>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if let Some(connection) = &self.0 {
            connection.end(Ending::AtOnce);
        }
    }
}
