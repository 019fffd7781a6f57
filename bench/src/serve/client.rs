//! A client of a server, over any transport. It parses as little JSON as possible.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use memchr::memmem;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::servers::{SHARED, Transport};
use crate::agent::words;

/// The number of updates in a turn, and the length of their texts and the prompt's, in bytes.
pub const UPDATES: usize = 20;
pub const UPDATE: usize = 200;
pub const PROMPT: usize = 1000;

/// Longer than any request takes, even on an overloaded machine.
const PATIENCE: Duration = Duration::from_mins(2);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#;
const NEW: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#;

/// A client with one session.
pub struct Client {
    link: Link,
    session: String,
    requests: u64,
}

enum Link {
    Http {
        posts: Posts,
        all: Events,
        session: Events,
    },
    WebSocket(Box<WebSocketStream<TcpStream>>),
}

/// How clients of one transport connect: over HTTP/2 several share a TCP connection, as behind a balancer.
pub struct Connector {
    address: String,
    transport: Transport,
    /// The shared connection, and how many clients may still use it.
    shared: Option<(SharedSender, usize)>,
}

type SharedSender = http2::SendRequest<Full<Bytes>>;

/// The connection for requests.
enum Sender {
    Own(http1::SendRequest<Full<Bytes>>),
    Shared(SharedSender),
}

/// The requests of a client, over a connection of their own if it is not shared.
pub struct Posts {
    address: String,
    sender: Sender,
    connection: String,
    /// A user's token. Messages then have keys, as those of clients that go on at another replica.
    token: Option<String>,
    /// How many messages were sent.
    sent: u64,
}

/// A stream of events, over a connection of its own if it is not shared.
pub struct Events {
    body: Incoming,
    line: Vec<u8>,
}

impl Connector {
    /// For the server at this address.
    pub fn new(address: &str, transport: Transport) -> Self {
        Self {
            address: address.to_owned(),
            transport,
            shared: None,
        }
    }

    /// A client that has a session, and reads its streams.
    pub async fn begin(&mut self) -> Result<Client> {
        in_time(async {
            match self.transport {
                Transport::WebSocket => Client::by_websocket(&self.address).await,
                Transport::Http => Client::by_http(Posts::begin(&self.address).await?).await,
                Transport::Http2 => {
                    let sender = Sender::Shared(self.share().await?);
                    Client::by_http(Posts::over(&self.address, sender, None).await?).await
                }
            }
        })
        .await
    }

    async fn share(&mut self) -> Result<SharedSender> {
        let (sender, left) = match self.shared.take() {
            Some((sender, left @ 1..)) => (sender, left),
            _ => {
                let io = TokioIo::new(connect(&self.address).await?);
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                (sender, SHARED)
            }
        };
        self.shared = Some((sender.clone(), left - 1));
        Ok(sender)
    }
}

impl Client {
    async fn by_http(mut posts: Posts) -> Result<Self> {
        let mut all = Events::open(&posts, None).await?;
        posts.say(NEW.to_owned(), None).await?;
        let session = all.until(begun).await?;
        let events = Events::open(&posts, Some(&session)).await?;
        Ok(Self {
            link: Link::Http {
                posts,
                all,
                session: events,
            },
            session,
            requests: 1,
        })
    }

    async fn by_websocket(address: &str) -> Result<Self> {
        let stream = connect(address).await?;
        let url = format!("ws://{address}/acp");
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await?;
        socket.send(Message::text(INITIALIZE)).await?;
        socket.send(Message::text(NEW)).await?;
        let session = until(&mut socket, begun).await?;
        Ok(Self {
            link: Link::WebSocket(Box::new(socket)),
            session,
            requests: 1,
        })
    }

    /// How long a turn takes, from the prompt to its answer.
    pub async fn turn(&mut self) -> Result<Duration> {
        self.requests += 1;
        let (id, session) = (self.requests, &self.session);
        let prompt = prompt(id, session, "words")?;
        let mut turn = Turn::default();
        let begin = Instant::now();
        in_time(async {
            match &mut self.link {
                Link::Http { posts, session, .. } => {
                    posts.say(prompt, Some(&self.session)).await?;
                    session.until(|line| turn.hear(line)).await
                }
                Link::WebSocket(socket) => {
                    socket.send(Message::text(prompt)).await?;
                    until(socket, |line| turn.hear(line)).await
                }
            }
        })
        .await?;
        let took = begin.elapsed();
        // A proxy that holds chunks back may change their number.
        let all = turn.updates.abs_diff(UPDATES) <= 2;
        ensure!(all, "{} updates arrived, not {UPDATES}", turn.updates);
        Ok(took)
    }

    /// Only reads from now on; closes a connection for requests, as clients do.
    pub fn rest(self) -> JoinHandle<Result<()>> {
        tokio::spawn(async move {
            match self.link {
                Link::Http {
                    mut all,
                    mut session,
                    ..
                } => {
                    let ends = tokio::try_join!(
                        all.until(|_| Ok(ControlFlow::<()>::Continue(()))),
                        session.until(|_| Ok(ControlFlow::<()>::Continue(())))
                    );
                    ends.map(drop)
                }
                Link::WebSocket(mut socket) => {
                    until(&mut socket, |_| Ok(ControlFlow::Continue(()))).await
                }
            }
        })
    }
}

impl Posts {
    /// Opens a connection over HTTP.
    pub async fn begin(address: &str) -> Result<Self> {
        let sender = Sender::Own(requests(address).await?);
        Self::over(address, sender, None).await
    }

    /// Opens a connection of a user over HTTP.
    pub async fn begin_as(address: &str, token: &str) -> Result<Self> {
        let sender = Sender::Own(requests(address).await?);
        Self::over(address, sender, Some(token.to_owned())).await
    }

    async fn over(address: &str, sender: Sender, token: Option<String>) -> Result<Self> {
        let mut posts = Self {
            address: address.to_owned(),
            sender,
            connection: String::new(),
            token,
            sent: 0,
        };
        let answer = posts.post(INITIALIZE.to_owned(), None).await?;
        let answer = with_status(StatusCode::OK, answer).await?;
        let id = answer.headers().get("acp-connection-id");
        let id = id.context("the connection has no id")?;
        posts.connection = id.to_str()?.to_owned();
        answer.into_body().collect().await?;
        Ok(posts)
    }

    /// The id of the connection.
    pub fn connection(&self) -> &str {
        &self.connection
    }

    async fn post(&mut self, text: String, session: Option<&str>) -> Result<Response<Incoming>> {
        self.sent += 1;
        let has_keys = self.token.is_some() && !self.connection.is_empty();
        let key = has_keys.then(|| format!("{}-{}", self.connection, self.sent));
        let mut request = self
            .of(Method::POST, session)
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        self.send(request.body(Full::from(text))?).await
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
        Ok(match &mut self.sender {
            Sender::Own(sender) => {
                // The last answer has been read, which the connection may not know yet.
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Sender::Shared(sender) => sender.send_request(request).await?,
        })
    }

    /// Sends a message with this key, and returns the status.
    pub async fn keyed(&mut self, text: String, key: &str) -> Result<StatusCode> {
        let request = self
            .of(Method::POST, None)
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(Full::from(text))?;
        let answer = self.send(request).await?;
        let status = answer.status();
        answer.into_body().collect().await?;
        Ok(status)
    }

    /// Ends the connection.
    pub async fn end(mut self) -> Result<()> {
        let request = self.of(Method::DELETE, None).body(Full::default())?;
        self.send(request).await.map(drop)
    }

    /// Reads the events of the connection, or of a session.
    pub async fn events(&self, session: Option<&str>) -> Result<Events> {
        Events::open(self, session).await
    }

    /// Begins a session. Its name arrives with the events of the connection.
    pub async fn begin_session(&mut self, all: &mut Events) -> Result<String> {
        self.say(NEW.to_owned(), None).await?;
        all.until(begun).await
    }

    /// Sends a message, and returns the status.
    pub async fn status(&mut self, text: String) -> Result<StatusCode> {
        let answer = self.post(text, None).await?;
        let status = answer.status();
        answer.into_body().collect().await?;
        Ok(status)
    }

    /// Sends a message that is answered elsewhere.
    async fn say(&mut self, text: String, session: Option<&str>) -> Result<()> {
        let answer = self.post(text, session).await?;
        let answer = with_status(StatusCode::ACCEPTED, answer).await?;
        answer.into_body().collect().await?;
        Ok(())
    }

    fn of(&self, method: Method, session: Option<&str>) -> hyper::http::request::Builder {
        let request = Request::builder().method(method);
        let mut request = match self.sender {
            Sender::Own(_) => request.uri("/acp").header("host", &self.address),
            Sender::Shared(_) => request.uri(format!("http://{}/acp", self.address)),
        };
        if !self.connection.is_empty() {
            request = request.header("acp-connection-id", &self.connection);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        match session {
            Some(session) => request.header("acp-session-id", session),
            None => request,
        }
    }
}

/// A prompt, whose fourth word is this.
pub fn prompt(id: u64, session: &str, word: &str) -> Result<String> {
    let filler = String::from_utf8(words(PROMPT))?;
    Ok(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"burst {UPDATES} {UPDATE} {word} {filler}"}}]}}}}"#
    ))
}

/// The answer if it has this status, and otherwise an error with its text.
async fn with_status(
    expected: StatusCode,
    answer: Response<Incoming>,
) -> Result<Response<Incoming>> {
    let status = answer.status();
    if status == expected {
        return Ok(answer);
    }
    let body = answer.into_body().collect().await?.to_bytes();
    bail!("{status}: {}", String::from_utf8_lossy(&body))
}

impl Events {
    async fn open(posts: &Posts, session: Option<&str>) -> Result<Self> {
        let request = posts
            .of(Method::GET, session)
            .header("accept", "text/event-stream");
        let request = request.body(Full::default())?;
        let answer = match &posts.sender {
            Sender::Own(_) => {
                let mut sender = requests(&posts.address).await?;
                sender.send_request(request).await?
            }
            Sender::Shared(sender) => sender.clone().send_request(request).await?,
        };
        let answer = with_status(StatusCode::OK, answer).await?;
        Ok(Self {
            body: answer.into_body(),
            line: Vec::new(),
        })
    }

    /// Reads a turn to its end.
    pub async fn turn(&mut self) -> Result<()> {
        let mut turn = Turn::default();
        self.until(|line| turn.hear(line)).await
    }

    /// Reads lines until `is_it` accepts one.
    async fn until<T>(
        &mut self,
        mut is_it: impl FnMut(&[u8]) -> Result<ControlFlow<T>>,
    ) -> Result<T> {
        loop {
            let frame = self.body.frame().await.context("the stream has ended")??;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let mut rest = &data[..];
            while let Some(end) = memchr::memchr(b'\n', rest) {
                self.line.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                let found = is_it(&self.line)?;
                self.line.clear();
                if let ControlFlow::Break(found) = found {
                    // Later data would belong to the next turn, which has not begun.
                    return Ok(found);
                }
            }
            self.line.extend_from_slice(rest);
        }
    }
}

/// The progress of a turn.
#[derive(Default)]
struct Turn {
    updates: usize,
}

impl Turn {
    fn hear(&mut self, line: &[u8]) -> Result<ControlFlow<()>> {
        if memmem::find(line, b"\"session/update\"").is_some() {
            self.updates += 1;
            return Ok(ControlFlow::Continue(()));
        }
        if memmem::find(line, b"\"error\":").is_some() {
            bail!("error: {}", String::from_utf8_lossy(line));
        }
        Ok(match memmem::find(line, b"\"stopReason\"") {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        })
    }
}

/// The session that this line opens.
fn begun(line: &[u8]) -> Result<ControlFlow<String>> {
    let text = std::str::from_utf8(line)?;
    let name = text.split_once("\"sessionId\":\"");
    let name = name.and_then(|(_, rest)| rest.split_once('"'));
    Ok(match name {
        Some((name, _)) => ControlFlow::Break(name.to_owned()),
        None if memmem::find(line, b"\"error\":").is_some() => bail!("no session: {text}"),
        None => ControlFlow::Continue(()),
    })
}

async fn until<T>(
    socket: &mut WebSocketStream<TcpStream>,
    mut is_it: impl FnMut(&[u8]) -> Result<ControlFlow<T>>,
) -> Result<T> {
    loop {
        let message = socket.next().await.context("the connection has ended")??;
        if let Message::Text(text) = message
            && let ControlFlow::Break(found) = is_it(text.as_bytes())?
        {
            return Ok(found);
        }
    }
}

async fn connect(address: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn requests(address: &str) -> Result<http1::SendRequest<Full<Bytes>>> {
    let io = TokioIo::new(connect(address).await?);
    let (sender, connection) = http1::handshake(io).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// What is done, unless the server does not answer.
pub async fn in_time<T>(done: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(PATIENCE, done)
        .await
        .context("the server does not answer")?
}
