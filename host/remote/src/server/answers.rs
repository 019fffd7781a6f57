//! The answers to requests.

use std::net::SocketAddr;
use std::sync::Arc;

use acp_chain_acp::Scope;
use acp_chain_http::Visitor;
use acp_chain_http::answer::{Answer, bare, events, named, plain};
use acp_chain_http::headers::{Accepts, CODED, is_coded};
use acp_chain_rpc::Message;
use acp_chain_rpc::transport::Frame;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::ext::Protocol;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::sync::Semaphore;

use super::account::Account;
use super::connection::{Connection, DeliveryResult, Ending};
use super::events::Events;
use super::headers::{About, EXPOSED, allowed, has_plain_end, is_json, short};
use super::mailbox::MailboxError;
use super::metrics::{Refusal, TransportKind};
use super::registry::{NoRoom, Registry};
use super::reply::{busy, json, of_connection, readiness};
use super::request_log::Log;
use super::routes::NoStream;
use super::{Behind, Opened, Settings, body, is_true, websocket};
use crate::gate::{AdmittedUser, Gate, Peer, Rejection};
use crate::wire::{IDEMPOTENCY, LAST_EVENT, RESUME, SESSION};

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
            let answer = plain(
                StatusCode::BAD_REQUEST,
                "the only Transfer-Encoding here is `chunked`, once",
            );
            return named(answer, header::CONNECTION, "close");
        }
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut log = Log::new(&request, peer);
        let registry = self.registry.clone();
        let mut answer = self.respond(request, peer, visitor, &mut log).await;
        log.write(answer.status(), &registry);
        if let Some(origin) = origin.filter(|_| answer.status() != StatusCode::FORBIDDEN) {
            let headers = answer.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::VARY, HeaderValue::from_static("origin"));
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
        answer
    }

    async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: &Peer,
        visitor: &Visitor,
        log: &mut Log,
    ) -> Answer {
        let path = request.uri().path();
        // Health checks have no credentials.
        match (request.method(), path) {
            (&Method::GET, "/healthz") => return plain(StatusCode::OK, "the server is running"),
            (&Method::GET, "/readyz") => return readiness(self.registry.is_draining()),
            _ => {}
        }
        let is_for_ticket = self.settings.endpoint.is_under(path, "/ticket");
        if self.settings.endpoint != *path && !is_for_ticket {
            return bare(StatusCode::NOT_FOUND);
        }
        let (head, body) = request.into_parts();
        if head.method == Method::OPTIONS {
            return match self.gate.check_site(&head, peer) {
                Ok(()) => allowed(),
                Err(refused) => self.reject(&refused),
            };
        }
        let admitted = match self.gate.pass(&head, peer) {
            Ok(admitted) => admitted,
            Err(refused) => return self.reject(&refused),
        };
        visitor.pass();
        log.user = Some(admitted.user.clone());
        if is_for_ticket {
            return self.ticket(&head.method, &admitted);
        }
        let about = match About::of(&head.headers) {
            Ok(about) => about,
            Err(answer) => return *answer,
        };
        let method = head.method.clone();
        log.connection.clone_from(&about.connection);
        log.session.clone_from(&about.session);
        let protocol = head.extensions.get::<Protocol>().map(Protocol::as_str);
        if websocket::is_requested(&method, &head.headers, protocol) {
            log.way = TransportKind::WebSocket;
            return self.upgrade(head, body, &admitted, peer);
        }
        match method {
            Method::POST => self.post(&head, body, &about, &admitted, log).await,
            Method::GET => self.stream(&head.headers, about, admitted),
            Method::DELETE => self.delete(&about, &admitted),
            _ => named(
                bare(StatusCode::METHOD_NOT_ALLOWED),
                header::ALLOW,
                "GET, POST, DELETE",
            ),
        }
    }

    async fn post(
        &self,
        head: &Parts,
        body: Incoming,
        about: &About,
        admitted: &AdmittedUser,
        log: &mut Log,
    ) -> Answer {
        if !is_json(&head.headers) {
            return plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Content-Type must be application/json",
            );
        }
        if is_coded(&head.headers) {
            let answer = plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, CODED);
            return named(answer, header::ACCEPT_ENCODING, "identity");
        }
        let Some(id) = &about.connection else {
            let account = self.registry.account(&admitted.user);
            let message = match self.read(body, FIRST, &account, None).await {
                Ok(message) => message,
                Err(answer) => return *answer,
            };
            log.record(&message);
            return self.begin(message, admitted, log).await;
        };
        let Some(connection) = self.registry.find(id, &admitted.user) else {
            return bare(StatusCode::NOT_FOUND);
        };
        let key = match short(&head.headers, &IDEMPOTENCY, KEY) {
            Ok(key) => key,
            Err(answer) => return *answer,
        };
        let repeated = connection.repeated(key);
        // One by one, in order of arrival.
        let _turn = connection.posting.lock().await;
        if key.is_some_and(|key| connection.has_key(key)) {
            return bare(StatusCode::ACCEPTED);
        }
        let read = tokio::select! {
            read = self.read(body, self.settings.line, &connection.account, Some(&connection)) => read,
            // The client has sent the message again: the rest of this body is lost.
            () = repeated => return bare(StatusCode::REQUEST_TIMEOUT),
        };
        let message = match read {
            Ok(message) => message,
            Err(answer) => return *answer,
        };
        log.record(&message);
        if let Some(answer) = self.objection(&message, about, admitted) {
            return answer;
        }
        match connection.deliver(Frame::Message(message)).await {
            Ok(DeliveryResult::Yes) => {
                if let Some(key) = key {
                    connection.keep(key);
                }
                bare(StatusCode::ACCEPTED)
            }
            Ok(DeliveryResult::TooMany) => busy(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests of this connection are open",
            ),
            Err(_) => bare(StatusCode::NOT_FOUND),
        }
    }

    /// The message of a body, or the answer to a malformed one.
    async fn read(
        &self,
        body: Incoming,
        longest: usize,
        account: &Account,
        connection: Option<&Connection>,
    ) -> Result<Message, Box<Answer>> {
        let figures = &self.registry.figures;
        body::read(body, longest, &self.bodies, account, figures, connection).await
    }

    /// The answer to a message that is rejected; `None` if it is accepted.
    fn objection(
        &self,
        message: &Message,
        about: &About,
        admitted: &AdmittedUser,
    ) -> Option<Answer> {
        if message.kind().is_response() {
            return None;
        }
        let (method, session) = (message.method(), message.session());
        match (session, &about.session) {
            (Some(own), Some(named)) if **own != **named => {
                return Some(plain(
                    StatusCode::BAD_REQUEST,
                    "Acp-Session-Id is not the message's sessionId",
                ));
            }
            (None, None) if Scope::of(method) == Scope::Session => {
                return Some(plain(
                    StatusCode::BAD_REQUEST,
                    "Acp-Session-Id and sessionId are missing",
                ));
            }
            _ => {}
        }
        let owners = &self.registry.owners;
        let named = about.session.as_deref();
        if named.is_some_and(|name| owners.is_foreign(name, &admitted.user))
            || owners.are_foreign(message, &admitted.user)
        {
            return Some(bare(StatusCode::NOT_FOUND));
        }
        // Running turns may finish; new ones may not start.
        let is_new = message.id().is_some() && self.registry.is_draining();
        is_new.then(|| self.no_room(NoRoom::Draining))
    }

    /// A new connection, with the agent's answer to its first message.
    async fn begin(&self, message: Message, admitted: &AdmittedUser, log: &mut Log) -> Answer {
        let (Some(id), "initialize") = (message.id(), &**message.method()) else {
            return plain(
                StatusCode::BAD_REQUEST,
                "Acp-Connection-Id is missing; the first message is the request `initialize`",
            );
        };
        let connection = match self.open(admitted, TransportKind::Http, log.peer) {
            Ok(connection) => connection,
            Err(why) => return self.no_room(why),
        };
        log.connection = Some(connection.id.clone());
        let answered = connection.with_routes(|routes| routes.answer_at_once(id));
        self.run(&connection, admitted);
        // A client that disconnects before the answer gets no connection.
        let mut guard = EndOnDrop(Some(connection));
        let Some(connection) = guard.0.clone() else {
            return bare(StatusCode::INTERNAL_SERVER_ERROR);
        };
        let delivered = connection.deliver(Frame::Message(message)).await;
        let answer = match delivered {
            Ok(DeliveryResult::Yes) => answered.await.ok(),
            _ => None,
        };
        let Some(answer) = answer else {
            return plain(
                StatusCode::BAD_GATEWAY,
                "the agent has ended before it answered",
            );
        };
        connection.mark_alive();
        let text = Bytes::copy_from_slice(answer.line().as_bytes());
        if answer.kind() == acp_chain_rpc::Kind::Error {
            return json(StatusCode::OK, text);
        }
        guard.0 = None;
        let answer = of_connection(json(StatusCode::OK, text), &connection.id);
        named(answer, RESUME, "1")
    }

    /// Opens a connection for a client of this transport.
    fn open(
        &self,
        admitted: &AdmittedUser,
        way: TransportKind,
        peer: SocketAddr,
    ) -> Result<Arc<Connection>, NoRoom> {
        if (self.behind.has_room)() {
            self.registry.begin(&admitted.user, way, peer)
        } else {
            Err(NoRoom::OfAll)
        }
    }

    fn no_room(&self, why: NoRoom) -> Answer {
        self.registry.figures.refused(why.refusal());
        match why {
            NoRoom::OfUser => busy(
                StatusCode::TOO_MANY_REQUESTS,
                "your limit of connections is reached",
            ),
            NoRoom::OfAll => busy(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server's limit of connections is reached",
            ),
            NoRoom::Draining => busy(
                StatusCode::SERVICE_UNAVAILABLE,
                "this server is about to stop",
            ),
            NoRoom::NoRandom => bare(StatusCode::INTERNAL_SERVER_ERROR),
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
            id: connection.id.clone(),
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
            registry.remove(&connection);
            tracing::info!(connection = connection.id, "the connection has ended");
        });
    }

    fn stream(&self, headers: &HeaderMap, about: About, admitted: AdmittedUser) -> Answer {
        if !Accepts::of(headers).events {
            return plain(
                StatusCode::NOT_ACCEPTABLE,
                "Accept must name text/event-stream",
            );
        }
        let Some(id) = about.connection else {
            return plain(StatusCode::BAD_REQUEST, "Acp-Connection-Id is missing");
        };
        let found = self.registry.find(&id, &admitted.user);
        let Some(connection) = found.filter(|connection| !connection.is_closed()) else {
            return bare(StatusCode::NOT_FOUND);
        };
        let session: Option<Arc<str>> = about.session.map(Arc::from);
        let is_foreign = |name: &str| self.registry.owners.is_foreign(name, &admitted.user);
        if session.as_deref().is_some_and(is_foreign) {
            return bare(StatusCode::NOT_FOUND);
        }
        let last = match short(headers, &LAST_EVENT, KEY) {
            Ok(None) => None,
            Ok(Some(text)) => match text.parse() {
                Ok(number) => Some(number),
                Err(_) => return plain(StatusCode::BAD_REQUEST, "Last-Event-ID must be a number"),
            },
            Err(answer) => return *answer,
        };
        let opened = match connection.open(session.as_deref(), last) {
            Ok(opened) => opened,
            Err(NoStream::Unknown) => return bare(StatusCode::NOT_FOUND),
            Err(NoStream::Closed(MailboxError::Taken)) => {
                return plain(StatusCode::CONFLICT, "this stream already has a reader");
            }
            Err(NoStream::Closed(MailboxError::Forgotten)) => {
                return plain(
                    StatusCode::CONFLICT,
                    "the events after that one are no longer kept; load the session again",
                );
            }
        };
        let over = is_true(admitted.is_over);
        let name = session.clone();
        let read = Events::new(connection.clone(), session, opened, over);
        let answer = of_connection(events(read), &connection.id);
        match name {
            Some(name) => named(answer, SESSION, &name),
            None => answer,
        }
    }

    fn upgrade(&self, head: Parts, body: Incoming, admitted: &AdmittedUser, peer: &Peer) -> Answer {
        let answer = match websocket::accept(&head.method, &head.headers) {
            Ok(answer) => answer,
            Err(answer) => return *answer,
        };
        let connection = match self.open(admitted, TransportKind::WebSocket, peer.address) {
            Ok(connection) => connection,
            Err(why) => return self.no_room(why),
        };
        self.run(&connection, admitted);
        let mut request = Request::from_parts(head, body);
        let upgrade = hyper::upgrade::on(&mut request);
        let over = is_true(admitted.is_over.clone());
        let messages = websocket::Carrier {
            connection: connection.clone(),
            registry: self.registry.clone(),
            bodies: self.bodies.clone(),
        };
        let carried = messages.carry(upgrade, self.settings.line, over);
        let socket = self.registry.socket();
        tokio::spawn(async move {
            carried.await;
            drop(socket);
        });
        of_connection(answer, &connection.id)
    }

    /// Issues a ticket, with which a browser opens a WebSocket, as it cannot send headers for that.
    fn ticket(&self, method: &Method, admitted: &AdmittedUser) -> Answer {
        if method != Method::POST {
            return named(bare(StatusCode::METHOD_NOT_ALLOWED), header::ALLOW, "POST");
        }
        match self.gate.ticket(admitted) {
            Ok(ticket) => {
                let text = format!(r#"{{"ticket":"{}"}}"#, ticket.reveal());
                json(StatusCode::OK, text.into())
            }
            Err(_) => bare(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    fn delete(&self, about: &About, admitted: &AdmittedUser) -> Answer {
        let Some(id) = &about.connection else {
            return plain(StatusCode::BAD_REQUEST, "Acp-Connection-Id is missing");
        };
        let Some(connection) = self.registry.find(id, &admitted.user) else {
            return bare(StatusCode::NOT_FOUND);
        };
        connection.end(Ending::Gently);
        bare(StatusCode::ACCEPTED)
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
