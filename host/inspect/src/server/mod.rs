//! HTTP for the page, on a port of the loopback interface.
//!
//! Every request passes the [gate] before anything else in it is read.
//!
//! | request | answer |
//! |---|---|
//! | `GET NAME` | a file of the page; without a name, its first |
//! | `GET stream` | all known lines, and then new ones: JSON, an object per line, without an end |
//! | `GET line?row=N` | a line as it is in the trace |
//! | `GET conversation?row=N&end=M` | the turn that begins with row N, and ends before M if it is given, as JSON |
//! | `GET search?text=T&from=N` | the rows from N on whose bodies contain the text, as four-byte numbers |
//! | `POST export?to=F` | the lines of the rows in the body, as four-byte numbers, in a format |

mod answer;
mod export;
mod gate;
mod query;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_chain_http::body::{self, UnlimitedBudget};
use acp_chain_http::{Answer, Connections, PAUSE, Terms, Visitor, serve};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Method, Request, StatusCode};
use tokio::net::TcpStream;

use self::answer::{not_found, plain, streamed, text};
pub use self::export::Format;
use self::gate::Gate;
use self::query::Query;
use crate::conversation::conversation;
use crate::log::{Cursor, Log};
use crate::page;
use crate::search::{Needle, search};

/// The maximum number of connections. A page has six at most.
const CONNECTIONS: usize = 64;

/// The maximum length of a request's body: the rows of a whole file.
const BODY: usize = 8 << 20;

/// Why the page is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The port is in use.
    #[error(
        "port {0} is in use; choose another with `--port`, or omit it to let the system choose"
    )]
    InUse(u16),
    /// The port cannot be opened.
    #[error("port {port} cannot be opened: {error}; omit `--port` to let the system choose")]
    Port { port: u16, error: io::Error },
    /// No secret could be generated.
    #[error("the system gives no random bytes: {0}")]
    Secret(getrandom::Error),
}

/// A page, served as long as this runs.
pub struct Server {
    listener: TcpListener,
    gate: Arc<Gate>,
}

/// State shared by all connections.
struct ServerState {
    log: Arc<Log>,
    gate: Arc<Gate>,
    formats: Vec<Format>,
}

impl Server {
    /// Opens a port; 0 lets the system choose one.
    ///
    /// # Errors
    /// If the port is in use.
    pub fn open(port: u16) -> Result<Self, ServerError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok((listener, port))
        });
        let (listener, port) = listener.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ServerError::InUse(port),
            _ => ServerError::Port { port, error },
        })?;
        let gate = Arc::new(Gate::new(port).map_err(ServerError::Secret)?);
        Ok(Self { listener, gate })
    }

    /// The page's URL, with the secret: it gives access to the whole page.
    pub fn address(&self) -> String {
        self.gate.address()
    }

    /// Serves the page until dropped.
    ///
    /// # Errors
    /// If the system does not let it accept clients.
    pub async fn serve(self, log: Arc<Log>, formats: Vec<Format>) -> io::Result<Infallible> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let served = Arc::new(ServerState {
            log,
            gate: self.gate,
            formats: export::all(formats),
        });
        let mut connections = Connections::new(CONNECTIONS);
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let served = Arc::clone(&served);
            let room = |count| (count < CONNECTIONS).then_some(());
            let serve = |visitor, ()| connection(served, stream, visitor);
            // All clients are on this machine.
            connections.welcome(None, room, serve).await;
        }
    }
}

async fn connection(served: Arc<ServerState>, stream: TcpStream, visitor: Arc<Visitor>) {
    // A failure affects only latency.
    let _ = stream.set_nodelay(true);
    let asks = Arc::clone(&visitor);
    let answer = move |request| {
        let (served, visitor) = (Arc::clone(&served), Arc::clone(&asks));
        async move { served.answer(request, &visitor).await }
    };
    let never = std::future::pending();
    serve(stream, &visitor, Terms::LOCAL, never, answer).await;
}

impl ServerState {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, visitor: &Visitor) -> Answer {
        let Some(name) = self.gate.pass(&request).map(str::to_owned) else {
            return not_found();
        };
        visitor.pass();
        let query = Query::of(request.uri().query());
        match (request.method(), &*name) {
            (&Method::GET, "stream") => self.stream(),
            (&Method::GET, "line") => self.line(&query).await,
            (&Method::GET, "conversation") => self.conversation(query).await,
            (&Method::GET, "search") => self.search(query).await,
            (&Method::POST, "export") => self.export(query, request).await,
            (&Method::GET, name) => match page::file(name) {
                Some(file) => text(file.media_type, Bytes::from_static(file.bytes)),
                None => not_found(),
            },
            _ => not_found(),
        }
    }

    fn stream(self: Arc<Self>) -> Answer {
        let begin = export::list(&self.formats);
        let changes = self.log.changes();
        let state = (self, changes, Cursor::default(), Some(begin));
        let news = stream::unfold(
            state,
            async |(served, mut changes, mut cursor, mut begin)| {
                if let Some(begin) = begin.take() {
                    return Some((begin, (served, changes, cursor, None)));
                }
                loop {
                    changes.borrow_and_update();
                    if let Some(news) = served.log.news(&mut cursor) {
                        return Some((news, (served, changes, cursor, None)));
                    }
                    changes.changed().await.ok()?;
                }
            },
        );
        let frames = futures_util::StreamExt::map(news, |news| Ok(Frame::data(news)));
        let body = StreamBody::new(frames).boxed_unsync();
        streamed("application/x-ndjson", body)
    }

    async fn line(&self, query: &Query) -> Answer {
        let Some(row) = query.number("row") else {
            return plain(StatusCode::BAD_REQUEST, "`row` must be the number of a row");
        };
        let (first, places) = self.log.places(row, 1);
        let Some(place) = places.into_iter().next().filter(|_| first == row) else {
            return plain(StatusCode::GONE, "this line is no longer kept");
        };
        match tokio::task::spawn_blocking(move || place.read()).await {
            Ok(Ok(line)) => text("text/plain; charset=utf-8", line),
            Ok(Err(error)) => plain(StatusCode::GONE, &error.to_string()),
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the line cannot be read"),
        }
    }

    async fn conversation(&self, query: Query) -> Answer {
        let Some(row) = query.number("row") else {
            return plain(StatusCode::BAD_REQUEST, "`row` must be the number of a row");
        };
        let end = query.number("end").unwrap_or(u64::MAX);
        let log = Arc::clone(&self.log);
        let read = move || serde_json::to_vec(&conversation(&log, row, end));
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(json)) => text("application/json", json.into()),
            _ => plain(StatusCode::INTERNAL_SERVER_ERROR, "the turn cannot be read"),
        }
    }

    async fn search(&self, query: Query) -> Answer {
        let log = Arc::clone(&self.log);
        // A search ends when its requester disconnects.
        let wanted = Arc::new(AtomicBool::new(true));
        let waits = WaitFlag(Arc::clone(&wanted));
        let found = tokio::task::spawn_blocking(move || {
            let needle = Needle::new(query.get("text").unwrap_or_default());
            let from = query.number("from").unwrap_or_default();
            search(&log, &needle, from, || wanted.load(Ordering::Relaxed))
        })
        .await;
        drop(waits);
        match found {
            Ok(Ok(rows)) => {
                let bytes: Vec<u8> = rows.into_iter().flat_map(u32::to_le_bytes).collect();
                text("application/octet-stream", bytes.into())
            }
            Ok(Err(error)) => plain(StatusCode::GONE, &error.to_string()),
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the search failed"),
        }
    }

    async fn export(self: Arc<Self>, query: Query, request: Request<Incoming>) -> Answer {
        let rows = match body::read(request.into_body(), BODY, &mut UnlimitedBudget).await {
            Ok(rows) => rows,
            Err(why) => return plain(why.status(), &format!("the rows cannot be read: {why}")),
        };
        let exported = tokio::task::spawn_blocking(move || {
            let to = query.get("to").unwrap_or_default();
            let format = self.formats.iter().find(|format| format.name == to);
            let format = format.ok_or_else(|| "unknown format".to_owned())?;
            export::export(&self.log, &rows, format).map(|bytes| (format.media_type, bytes))
        });
        match exported.await {
            Ok(Ok((media_type, bytes))) => text(media_type, bytes.into()),
            Ok(Err(error)) => plain(StatusCode::UNPROCESSABLE_ENTITY, &error),
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the export failed"),
        }
    }
}

/// Cleared when the requester disconnects.
struct WaitFlag(Arc<AtomicBool>);

impl Drop for WaitFlag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
