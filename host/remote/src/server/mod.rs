//! The server: each connection of a client is a transport to the service that the creator of the server provides (RFD
//! streamable-http-websocket-transport).
//!
//! | request | answer |
//! |---|---|
//! | `POST`, `initialize` | a new connection: its `Acp-Connection-Id`, and the agent's answer |
//! | `POST`, anything else | 202 once the message is passed on; the answer is sent on a stream |
//! | `GET` | a stream of events: the connection's, or that of the session in `Acp-Session-Id` |
//! | `GET` with `Upgrade: websocket` | a new connection over a WebSocket |
//! | `DELETE` | 202, and the connection ends |
//!
//! | file | what it is |
//! |---|---|
//! | `answers` | the answers to these requests |
//! | `headers`, `body` | the headers and bodies of requests |
//! | `request_log` | the log lines of each request |
//! | `websocket` | a connection over a WebSocket |
//! | `events` | a stream as server-sent events |
//! | `alone` | a stream of events that has an HTTP/1.1 connection to itself |
//! | `limits` | the limits of a server |
//! | `registry` | the open connections |
//! | `names` | names given by operators |
//! | `owners` | the owners of sessions, as one server knows them |
//! | `shared` | what replicas must know together: owners, leases, prompts, limits |
//! | `account` | a user's share of the server, over all connections |
//! | `shares` | how many turns of a user, and of a group, run at once |
//! | `fair` | whose turn is next when as many run as may |
//! | `connection` | one connection of a client |
//! | `routes` | the stream of each message |
//! | `turn` | a running turn |
//! | `permission_log` | permission requests to a client, for the access log |
//! | `mailbox` | the unsent messages of a stream, and sent ones that may be requested again |
//! | `access_log` | the access log of requests and turns |
//! | `metrics` | metrics for the operator |
//! | `count` | counts bytes per stream, and in total |
//! | `reply` | answers that several of these files give |
//! | `tls` | encryption of connections |

pub mod access_log;
mod account;
mod alone;
mod answers;
mod body;
mod connection;
mod count;
mod events;
mod fair;
mod headers;
mod limits;
mod mailbox;
pub mod metrics;
mod names;
mod owners;
mod permission_log;
mod registry;
mod reply;
mod request_log;
mod routes;
mod shared;
mod shares;
mod spelling;
pub mod tls;
mod turn;
mod websocket;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_http::{Connections, PAUSE, Terms, Visitor, serve};
use acp_chain_rpc::transport::Transport;
use acp_chain_system::memory;
use hyper::Request;
use hyper::body::Incoming;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::{interval, timeout};
use tokio_rustls::TlsAcceptor;

pub use self::limits::{Files, Limits};
pub use self::names::{Endpoint, NameError, Node};
pub use self::shared::{Budgets, SHORTEST as SHORTEST_LEASE, SharedError, SharedSettings, Watch};
pub use self::shares::TurnLimits;

use self::answers::Answers;
use self::registry::Registry;
use self::shared::Shared;
use crate::User;
use crate::gate::{Gate, Peer};

/// The terms of clients. A TLS handshake may take as long as the head of a request.
const TERMS: Terms = Terms {
    head: Duration::from_secs(30),
    longest_head: 32 * 1024,
    stranger: Duration::from_secs(30),
    http2: true,
};

/// How many bytes in transit the system buffers: less than is kept for clients that resume.
const SENT: usize = 256 * 1024;

/// How many bytes of incomplete messages are buffered, of all connections.
pub const BODIES: usize = 512 << 20;

/// How many connections may be of strangers: clients that the gate has not admitted yet.
const STRANGERS: usize = 4096;

/// How many sockets must have closed before memory is returned to the system.
const LEFT: usize = 64;

/// How often to look for abandoned connections.
const LOOK: Duration = Duration::from_secs(5);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path at which clients reach the server.
    pub endpoint: Endpoint,
    /// The prefix of connection ids.
    pub node: Node,
    /// The longest message, in bytes.
    pub line: usize,
    /// How long a silent connection and its sent messages are kept.
    pub resume: Duration,
    pub limits: Limits,
    /// How many turns of a user, and of a group, run at once.
    pub turn_limits: TurnLimits,
    pub access: Option<access_log::AccessLog>,
}

/// A connection that has begun.
pub struct Opened {
    /// The client's transport.
    pub transport: Transport,
    pub user: Arc<User>,
    /// Resolves when the connection must end at once.
    pub stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The service behind one connection, which ends when this resolves.
pub type Serving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The service behind each connection.
pub struct Behind {
    /// Serves one connection.
    pub serve: Box<dyn Fn(Opened) -> Serving + Send + Sync>,
    /// Whether there is room for another connection.
    pub has_room: Box<dyn Fn() -> bool + Send + Sync>,
}

/// A listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    settings: Settings,
    tls: Option<Arc<rustls::ServerConfig>>,
    registry: Arc<Registry>,
}

/// Stops a server.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Registry>);

impl Server {
    /// Listens, with or without TLS.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn open(
        address: SocketAddr,
        settings: Settings,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            address: listener.local_addr()?,
            registry: Arc::new(Registry::new(
                settings.node.clone(),
                settings.limits,
                settings.turn_limits.clone(),
                settings.access.clone(),
            )),
            listener,
            settings,
            tls,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        let scheme = self.tls.as_ref().map_or("http", |_| "https");
        format!("{scheme}://{}{}", self.address, self.settings.endpoint)
    }

    /// A handle that stops the server.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.registry.clone())
    }

    /// Shares what replicas must know together, by their store. Must be called on the runtime that serves, before that.
    ///
    /// # Errors
    /// If the store cannot be used, or another replica has the name of this one.
    pub async fn share(&self, settings: SharedSettings) -> Result<(), SharedError> {
        let replica = self.registry.node().to_string();
        let shared = Shared::begin(settings, replica).await?;
        self.registry.share(Arc::new(shared));
        Ok(())
    }

    /// Serves clients that the gate admits, until the future is dropped.
    ///
    /// # Errors
    /// If the runtime cannot register the listener.
    pub async fn serve(self, gate: Arc<Gate>, behind: Behind) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let tls = self.tls.map(TlsAcceptor::from);
        let resume = self.settings.resume;
        let registry = self.registry.clone();
        let figures = registry.figures.clone();
        let answers = Arc::new(Answers {
            registry: self.registry,
            gate,
            behind,
            settings: self.settings,
            bodies: Arc::new(Semaphore::new(BODIES)),
        });
        let accept = async {
            let sockets = answers.registry.most_sockets();
            let mut connections = Connections::new(sockets.min(STRANGERS));
            loop {
                let Ok((stream, address)) = listener.accept().await else {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                let (answers, tls) = (answers.clone(), tls.clone());
                let from = address.ip().to_canonical();
                let room = |_| registry.one_more_socket();
                let receive = async move |visitor, socket| {
                    receive(stream, address, tls, answers, visitor).await;
                    drop(socket);
                };
                // Excess clients are rejected, so that the others need not wait.
                if !connections.welcome(Some(from), room, receive).await {
                    figures.refused(metrics::Refusal::Sockets);
                }
            }
        };
        let sweep = async {
            let mut looks = interval(LOOK);
            let mut most = 0;
            loop {
                looks.tick().await;
                registry.sweep(resume);
                let sockets = registry.sockets();
                if sockets + LEFT <= most {
                    // The allocator would keep the memory of closed sockets.
                    let _ = spawn_blocking(memory::give_back).await;
                    most = sockets;
                } else {
                    most = most.max(sockets);
                }
            }
        };
        let keep = async {
            match registry.shared() {
                Some(shared) => shared.keep(&registry).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = accept => Ok(()),
            () = sweep => Ok(()),
            () = keep => Ok(()),
        }
    }
}

impl Stopper {
    /// Whether the server is about to stop.
    pub fn is_draining(&self) -> bool {
        self.0.is_draining()
    }

    /// Accepts no more clients. Running turns have this long to finish; then open requests are answered. Resolves when
    /// all connections are closed.
    pub async fn drain(&self, patience: Duration) {
        self.0.drain(patience).await;
        if let Some(shared) = self.0.shared() {
            shared.leave().await;
        }
    }
}

/// One TCP connection.
async fn receive(
    stream: TcpStream,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    answers: Arc<Answers>,
    visitor: Arc<Visitor>,
) {
    // Only latency depends on it.
    let _ = stream.set_nodelay(true);
    // A client that vanished is noticed when it does not acknowledge sent data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = SockRef::from(&stream).set_tcp_user_timeout(Some(3 * acp_chain_http::HEARTBEAT));
    let _ = SockRef::from(&stream).set_keepalive(true);
    let _ = SockRef::from(&stream).set_send_buffer_size(SENT);
    let mut peer = Peer {
        address,
        certificate: None,
        is_encrypted: tls.is_some(),
    };
    let Some(tls) = tls else {
        return converse(stream, peer, answers, visitor).await;
    };
    let over = is_true(answers.registry.over());
    let accepted = tokio::select! {
        accepted = timeout(TERMS.head, Box::pin(tls.accept(stream))) => accepted,
        () = over => return,
    };
    match accepted {
        Ok(Ok(stream)) => {
            let certificates = stream.get_ref().1.peer_certificates();
            let first = certificates.and_then(|all| all.first());
            peer.certificate = first.map(|certificate| Arc::from(certificate.as_ref()));
            // Unencrypted connections need no room for TLS.
            Box::pin(converse(stream, peer, answers, visitor)).await;
        }
        Ok(Err(error)) => tracing::debug!("{address}: the TLS handshake failed: {error}"),
        Err(_) => tracing::debug!("{address}: the TLS handshake timed out"),
    }
}

async fn converse<S>(stream: S, peer: Peer, answers: Arc<Answers>, visitor: Arc<Visitor>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (lent, mut lender, alone) = alone::lend(stream);
    let over = is_true(answers.registry.over());
    let (alone, guest) = (Arc::new(alone), Arc::clone(&visitor));
    let answer = move |request: Request<Incoming>| {
        let (answers, peer, alone) = (answers.clone(), peer.clone(), alone.clone());
        let (visitor, version) = (guest.clone(), request.version());
        async move {
            let answer = answers.answer(request, &peer, &visitor).await;
            alone.pass(answer, version).await
        }
    };
    // Boxed, so that its memory is freed before the stream is served alone.
    let mut requests = Box::pin(serve(lent, &visitor, TERMS, over, answer));
    let answer = tokio::select! {
        () = requests.as_mut() => return,
        answer = lender.wanted() => answer,
    };
    drop(requests);
    if let Some(stream) = lender.take_back() {
        alone::send_stream(stream, answer).await;
    }
}

/// Resolves when this becomes true.
async fn is_true(mut value: watch::Receiver<bool>) {
    if value.wait_for(|value| *value).await.is_err() {
        // The sender is dropped, so the value stays false.
        std::future::pending::<()>().await;
    }
}
