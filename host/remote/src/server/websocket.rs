//! A connection over a WebSocket (RFC 6455, and RFC 8441 over HTTP/2).
//!
//! The two directions do not wait for each other: a client that does not read may still send.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use acp_chain_http::HEARTBEAT;
use acp_chain_http::answer::{Answer, bare, named, plain};
use acp_chain_rpc::transport::Frame;
use acp_chain_rpc::transport::lenient::frames;
use acp_chain_rpc::{Error as RpcError, Id, Kind, aside, code, read};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::{self, HeaderMap};
use hyper::http::request::Parts;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, handshake::derive_accept_key};

use super::access_log::Entry;
use super::body::Room;
use super::connection::{Connection, Ending};
use super::registry::Registry;
use super::routes::DeliveryResult;
use super::shared::{Denial, Passage};
use crate::gate::{has_word, opens_websocket};

/// How long a client may be silent.
const SILENCE: Duration = HEARTBEAT.saturating_mul(3);

/// The size of the read buffer, in bytes: each connection has one, even while idle.
const READ: usize = 4 * 1024;

/// How long the last messages may take to be sent.
const CLOSING: Duration = Duration::from_secs(5);

type Socket = WebSocketStream<MeteredStream<TokioIo<Upgraded>>>;

/// Whether a request opens a WebSocket.
pub fn is_requested(head: &Parts) -> bool {
    let is_upgrade = || has_word(&head.headers, &header::CONNECTION, "upgrade");
    opens_websocket(head) && (head.method == Method::CONNECT || is_upgrade())
}

/// The answer that opens a WebSocket, or one that rejects it.
pub fn accept(method: &Method, headers: &HeaderMap) -> Result<Answer, Box<Answer>> {
    let version = headers.get(header::SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version != "13") {
        let words = "the version of WebSocket is 13";
        let answer = plain(StatusCode::UPGRADE_REQUIRED, words);
        let answer = named(answer, header::SEC_WEBSOCKET_VERSION, "13");
        return Err(Box::new(answer));
    }
    let chosen = |answer| match subprotocol(headers) {
        Some(name) => named(answer, header::SEC_WEBSOCKET_PROTOCOL, name),
        None => answer,
    };
    if *method == Method::CONNECT {
        return Ok(chosen(bare(StatusCode::OK)));
    }
    let Some(key) = headers.get(header::SEC_WEBSOCKET_KEY) else {
        let words = "the header Sec-WebSocket-Key is missing";
        return Err(Box::new(plain(StatusCode::BAD_REQUEST, words)));
    };
    let answer = chosen(bare(StatusCode::SWITCHING_PROTOCOLS));
    let answer = named(answer, header::UPGRADE, "websocket");
    let answer = named(answer, header::CONNECTION, "upgrade");
    let accepted = derive_accept_key(key.as_bytes());
    Ok(named(answer, header::SEC_WEBSOCKET_ACCEPT, &accepted))
}

/// The first subprotocol on offer that is ACP (`acp`, `acp.v1`): browsers do not connect if none of their offers is
/// chosen (RFC 6455 §4.1).
fn subprotocol(headers: &HeaderMap) -> Option<&str> {
    let offers = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let mut offers = offers
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim);
    offers.find(|name| {
        let (protocol, version) = name.split_once(['.', '-', '/']).unwrap_or((name, ""));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
        protocol.eq_ignore_ascii_case("acp") && version.len() <= 16 && version.chars().all(is_plain)
    })
}

/// Carries the messages of a connection, of at most this length, in bytes, until either end closes. `bodies` is the
/// room for incomplete messages of all users.
pub async fn carry(
    connection: Arc<Connection>,
    registry: Arc<Registry>,
    bodies: Arc<Semaphore>,
    upgrade: OnUpgrade,
    limit: usize,
    over: impl Future<Output = ()> + Send,
) {
    let carried = async {
        let io = match timeout(CLOSING, upgrade).await {
            Ok(Ok(upgraded)) => TokioIo::new(upgraded),
            _ => return,
        };
        let room = Arc::new(Room::new(bodies, connection.account.clone()));
        let io = MeteredStream {
            io,
            room: room.clone(),
        };
        let config = WebSocketConfig::default()
            .read_buffer_size(READ)
            .max_message_size(Some(limit))
            .max_frame_size(Some(limit));
        let socket = Socket::from_raw_socket(io, Role::Server, Some(config)).await;
        let (sink, source) = socket.split();
        let Ok((reader, _)) = connection.open(None, None) else {
            return;
        };
        tokio::select! {
            () = receive(source, &connection, &registry, &room) => {}
            () = send(sink, &connection, reader) => {}
            () = over => {}
        }
        connection.leave(None, reader);
    };
    carried.await;
    connection.end(Ending::Gently);
}

/// A stream that takes room for the bytes that are read.
pub struct MeteredStream<S> {
    io: S,
    room: Arc<Room>,
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        Poll::Ready(if self.room.take(buffer.filled().len() - before) {
            Ok(())
        } else {
            Err(io::Error::other("too much is being sent at once"))
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// Lets a message pass by the same rules as over HTTP, or says why not.
async fn admit<'c>(
    frame: &Frame,
    connection: &'c Arc<Connection>,
    registry: &Registry,
) -> Result<Option<Passage<'c>>, RpcError> {
    // The chain answers lines that are not messages.
    let Frame::Message(message) = frame else {
        return Ok(None);
    };
    if connection.is_foreign(message) {
        let text = "acp-chain: there is no such session";
        return Err(RpcError::new(code::INVALID_PARAMS, text));
    }
    // Running turns may finish; new ones may not start.
    let is_new = message.kind() == Kind::Request;
    if is_new && registry.is_draining() {
        let text = "acp-chain: this server is about to stop; connect again";
        return Err(RpcError::new(code::INTERNAL_ERROR, text));
    }
    let Some(shared) = registry.shared() else {
        return Ok(None);
    };
    let admitted = shared.admit(message, None, None, connection).await;
    let denied = |why: Denial| why.counted(&registry.figures).error();
    admitted.map(Some).map_err(denied)
}

async fn receive(
    mut source: SplitStream<Socket>,
    connection: &Arc<Connection>,
    registry: &Registry,
    room: &Room,
) {
    loop {
        let next = source.next().await;
        room.give_back();
        let text = match next {
            // UTF-8 counts as text, whatever the type of the frame.
            Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => message.into_data(),
            Some(Ok(Message::Close(_))) => {
                tracing::info!(
                    connection = connection.id,
                    "the client has closed the connection"
                );
                // Reading on answers the close frame, too.
                let rest = async { while source.next().await.is_some_and(|next| next.is_ok()) {} };
                let _ = timeout(CLOSING, rest).await;
                return;
            }
            // The library answers control frames.
            Some(Ok(_)) => {
                connection.mark_alive();
                continue;
            }
            Some(Err(Error::ConnectionClosed)) => return,
            Some(Err(error)) => {
                tracing::info!(
                    connection = connection.id,
                    "the client was disconnected: {error}"
                );
                return;
            }
            None => {
                tracing::info!(connection = connection.id, "the client was disconnected");
                return;
            }
        };
        let len = text.len();
        connection.pace(len).await;
        for frame in aside(len, || frames(text)) {
            take(frame, connection, registry).await;
        }
    }
}

/// Delivers a message, or a text that is not one.
async fn take(frame: Frame, connection: &Arc<Connection>, registry: &Registry) {
    let (frame, is_batch) = match frame {
        Frame::Line(text) => match aside(text.len(), || read(Frame::Line(text.clone()))) {
            Ok(message) => (Frame::Message(message), false),
            Err(malformed) => (Frame::Line(text), malformed.batch.is_some()),
        },
        frame => (frame, false),
    };
    let begun = Instant::now();
    let (method, session) = match &frame {
        Frame::Message(message) => (Some(message.method().clone()), message.session().cloned()),
        _ => (None, None),
    };
    let (id, len) = match &frame {
        Frame::Message(message) => (message.id(), message.len()),
        // A batch or a malformed line is answered without the id of a request.
        Frame::Line(text) => (Some(Id::null()), text.len()),
        Frame::TooLong { .. } | Frame::Torn(_) => (None, 0),
    };
    let refused = match admit(&frame, connection, registry).await {
        _ if is_batch => {
            let text = "acp-chain: batches are not supported; send the messages one by one";
            Some(RpcError::new(code::INVALID_REQUEST, text))
        }
        Err(error) => Some(error),
        Ok(passage) => match connection.deliver(frame).await {
            DeliveryResult::Passed => {
                if let Some(passage) = passage {
                    passage.pass();
                }
                None
            }
            DeliveryResult::Answered => None,
            DeliveryResult::TooMany => {
                let text = "acp-chain: too many requests of this connection are open";
                Some(RpcError::new(code::INVALID_REQUEST, text))
            }
            DeliveryResult::Denied(why) => Some(why.counted(&registry.figures).error()),
            // The chain has ended. Its last messages are being sent.
            DeliveryResult::Ended => std::future::pending().await,
        },
    };
    if let Some((error, id)) = refused.zip(id) {
        connection.refuse(&id, &error);
    }
    connection.log.write(Entry {
        event: "message",
        method: method.as_deref().filter(|method| !method.is_empty()),
        session: session.as_deref(),
        bytes: Some(len),
        ms: begun.elapsed().as_millis(),
        ..Entry::default()
    });
}

async fn send(mut sink: SplitSink<Socket, Message>, connection: &Connection, reader: u64) {
    let mut heartbeat = Instant::now() + HEARTBEAT;
    loop {
        let next = std::future::poll_fn(|context| connection.poll_event(None, reader, context));
        let message = tokio::select! {
            event = next => match event.map(|event| String::from_utf8(event.text.into())) {
                Some(Ok(text)) => Message::text(text),
                // All our messages were read as text.
                Some(Err(_)) => continue,
                None => break,
            },
            () = sleep_until(heartbeat) => {
                if connection.silence() > SILENCE {
                    tracing::info!(connection = connection.id, "the client does not respond");
                    return;
                }
                heartbeat = Instant::now() + HEARTBEAT;
                Message::Ping(Bytes::new())
            }
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
    let close = CloseFrame {
        code: CloseCode::Normal,
        reason: connection.reason().into(),
    };
    let _ = timeout(CLOSING, sink.send(Message::Close(Some(close)))).await;
}
