//! Clients that speak MCP's streamable HTTP, on a port of the loopback interface.
//!
//! The [gate] checks every request before its body is read. Two forms of the transport are supported: with [sessions]
//! (2025-03-26, 2025-06-18, 2025-11-25), and [without](modern) (2026-07-28). A client that loses a stream of its
//! session resumes the stream with `Last-Event-ID`.

mod gate;
mod modern;
mod post;
mod reply;
mod sessions;

use std::io;
use std::slice;
use std::sync::Arc;

use acp_chain_http::headers::Accepts;
use acp_chain_http::{Answer, Connections, Terms, Visitor, serve};
use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{HeaderMap, Method, Request, StatusCode, header};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use self::reply::{Refusal, refuse, rejected};
use super::connections::welcome;
use super::link::LinkKind;
use super::registry::{Attachment, Registry};
use super::stream::{PendingRequest, Role};
use acp_chain_channel::limits::MCP_CONNECTIONS;
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::{Id, Kind, Message};
pub use acp_chain_system::{Supervisor, local};

/// The suffix of every path, after the random part: one agent appends it to any path without it.
pub const ENDPOINT: &str = "/mcp";

static SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

pub struct Listener {
    pub port: u16,
    /// Dropping it ends the task.
    _task: JoinSet<()>,
    _lifeline: local::Lifeline,
}

impl Listener {
    /// Opens a port, and accepts clients.
    pub fn open(registry: &Arc<Registry>, by: Option<&Supervisor>) -> io::Result<Self> {
        let (listener, lifeline) = local::port(by)?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let listener = TcpListener::from_std(listener)?;
        let registry = Arc::clone(registry);
        let mut task = JoinSet::new();
        task.spawn(async move { accept(&registry, &listener, port).await });
        Ok(Self {
            port,
            _task: task,
            _lifeline: lifeline,
        })
    }
}

/// Accepts clients. Dropping the future closes their connections.
async fn accept(registry: &Arc<Registry>, listener: &TcpListener, port: u16) {
    let mut connections = Connections::new(MCP_CONNECTIONS);
    loop {
        let serve = |stream, visitor| {
            let visit = Visit {
                registry: Arc::clone(registry),
                port,
                visitor,
                cut: Arc::default(),
            };
            visit.serve(stream)
        };
        let came = listener.accept().await.map(|(stream, _)| Some(stream));
        welcome(&mut connections, registry, came, serve).await;
    }
}

/// One connection of a client.
#[derive(Clone)]
struct Visit {
    registry: Arc<Registry>,
    port: u16,
    visitor: Arc<Visitor>,
    /// Notifying it closes the connection.
    cut: Arc<Notify>,
}

impl Visit {
    async fn serve(self, stream: TcpStream) {
        // A failure costs only latency.
        let _ = stream.set_nodelay(true);
        let (visitor, cut) = (Arc::clone(&self.visitor), Arc::clone(&self.cut));
        let answer = move |request| {
            let visit = self.clone();
            async move { visit.answer(request).await }
        };
        tokio::select! {
            () = serve(stream, &visitor, Terms::LOCAL, std::future::pending(), answer) => {}
            () = cut.notified() => {}
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let server = match gate::pass(&self.registry, self.port, &request) {
            Ok(server) => server,
            Err(refused) => {
                self.registry.rejected(refused.why);
                return refused.into_answer();
            }
        };
        self.visitor.pass();
        let (head, body) = request.into_parts();
        let request = ClientRequest {
            visit: self,
            server,
            accepts: Accepts::of(&head.headers),
            headers: head.headers,
        };
        let answered = match head.method {
            Method::POST => request.post(body).await,
            Method::GET => request.listen(),
            Method::DELETE => request.delete(),
            _ => Err(not_allowed("POST, GET, DELETE")),
        };
        answered.unwrap_or_else(Refusal::into_answer)
    }
}

/// A request that has passed the gate, without its body.
struct ClientRequest<'v> {
    visit: &'v Visit,
    server: ServerId,
    accepts: Accepts,
    headers: HeaderMap,
}

impl ClientRequest<'_> {
    /// Opens a link for a client that begins with this message, and a stream for the answer.
    fn admit(&self, shape: LinkKind, message: &Message) -> Result<(LinkId, Attachment), Refusal> {
        let admitted = self.visit.registry.admit(self.server, shape);
        let link = admitted.map_err(|why| rejected(why, message.id().as_ref()))?;
        Ok((link, self.open_for(link, slice::from_ref(message))?))
    }

    /// Opens a stream of a link, for the answers to the requests among these messages.
    fn open_for(&self, link: LinkId, messages: &[Message]) -> Result<Attachment, Refusal> {
        let requests = messages.iter();
        let requests = requests.filter(|message| message.kind() == Kind::Request);
        let role = Role::Answers {
            asked: requests.filter_map(PendingRequest::of).collect(),
            events: self.accepts.events,
        };
        let id = messages.iter().find_map(Message::id);
        self.open(link, role, id.as_ref())
    }

    /// Opens a stream of a link, for a request with this id.
    fn open(&self, link: LinkId, role: Role, id: Option<&Id>) -> Result<Attachment, Refusal> {
        let opened = self.visit.registry.open(link, role, &self.visit.cut);
        opened.map_err(|why| rejected(why, id))
    }
}

fn not_allowed(methods: &str) -> Refusal {
    let refusal = refuse(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    refusal.named(header::ALLOW, methods)
}

/// The answer to a request, or its refusal.
type AnswerResult = Result<Answer, Refusal>;
