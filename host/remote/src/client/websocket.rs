//! A remote agent over WebSocket: one connection, a text for each message.
//!
//! The connection is upgraded from HTTP/1.1 (RFC 6455), so it has the same certificates, proxies and errors as other
//! requests.

use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::one_line;
use acp_chain_rpc::transport::Frame;
use acp_chain_rpc::transport::lenient::frames;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Method, StatusCode, Upgraded};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::ends::{AgentEvent, Inbox, Link};
use super::error::{Cause, RemoteError};
use super::web::Web;
use acp_chain_http::HEARTBEAT;

/// After this long without data, the other side is considered disconnected.
const SILENCE: Duration = HEARTBEAT.saturating_mul(3);

/// How long to wait for the other side at the end.
const CLOSING: Duration = Duration::from_secs(5);

type Stream = WebSocketStream<Upgraded>;

/// A connection over WebSocket.
pub struct Socket {
    web: Web,
    limit: usize,
    inbox: Inbox,
    /// `None` before it is connected.
    sink: Mutex<Option<SplitSink<Stream, Message>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Socket {
    pub fn new(web: Web, limit: usize, inbox: Inbox) -> Self {
        Self {
            web,
            limit,
            inbox,
            sink: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    async fn open(&self) -> Result<Stream, RemoteError> {
        let key = generate_key();
        let answer = self.web.send(Method::GET, |request| {
            let request = request
                .header(CONNECTION, "Upgrade")
                .header(UPGRADE, "websocket");
            request
                .header(SEC_WEBSOCKET_VERSION, "13")
                .header(SEC_WEBSOCKET_KEY, &key)
        });
        let answer = timeout(SILENCE, answer).await;
        let answer = answer.map_err(|_| self.web.error(Cause::Silent))?;
        let answer = answer.map_err(|error| self.web.broken(&error))?;
        let status = answer.status();
        if status.is_success() || status == StatusCode::UPGRADE_REQUIRED {
            return Err(self.web.error(Cause::NoWebSocket(status)));
        }
        if status != StatusCode::SWITCHING_PROTOCOLS {
            return Err(self.web.refused(answer).await);
        }
        let accepted = answer.headers().get(SEC_WEBSOCKET_ACCEPT);
        if accepted.is_none_or(|accepted| *accepted != *derive_accept_key(key.as_bytes())) {
            return Err(self.web.error(Cause::NoWebSocket(status)));
        }
        let upgraded = answer.upgrade().await;
        let upgraded = upgraded.map_err(|error| self.web.broken(&error))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(self.limit))
            .max_frame_size(Some(self.limit));
        Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
    }

    /// Reads until the end, and reports that.
    async fn read(self: Arc<Self>, mut stream: SplitStream<Stream>) {
        let end = loop {
            // While a message waits for its reader, nothing is read, so silence does not count.
            let next = tokio::select! {
                next = timeout(SILENCE, stream.next()) => next,
                () = self.inbox.closed() => return,
            };
            match next {
                Err(_) => break Err(Cause::Broken("it no longer responds".to_owned())),
                Ok(None) => break Err(Cause::Broken("it ended".to_owned())),
                // UTF-8 counts as text, whatever the type of the frame.
                Ok(Some(Ok(message @ (Message::Text(_) | Message::Binary(_))))) => {
                    let frames = frames(message.into_data());
                    for line in frames.into_iter().filter_map(Frame::into_line) {
                        let event = AgentEvent::Message(one_line(line));
                        if self.inbox.send(event).await.is_err() {
                            return;
                        }
                    }
                }
                Ok(Some(Ok(Message::Close(frame)))) => break close_result(frame),
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(error))) => break Err(self.why(&error)),
            }
        };
        let end = end.map_err(|why| self.web.error(why));
        let _ = self.inbox.send(AgentEvent::End(end)).await;
    }

    /// Shows the other side and intermediaries that we are alive.
    async fn ping(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = sleep(HEARTBEAT) => {}
                () = self.inbox.closed() => return,
            }
            let mut sink = self.sink.lock().await;
            let Some(sink) = sink.as_mut() else { return };
            // The reading task reports the error.
            if sink.send(Message::Ping(Bytes::new())).await.is_err() {
                return;
            }
        }
    }

    fn why(&self, error: &Error) -> Cause {
        match error {
            Error::Capacity(_) => Cause::TooLong(self.limit),
            Error::ConnectionClosed | Error::AlreadyClosed => Cause::Broken("it ended".to_owned()),
            _ => Cause::Broken(quote(&error.to_string(), MAX_QUOTE)),
        }
    }
}

impl Link for Socket {
    async fn send(self: Arc<Self>, message: Bytes) -> Result<(), RemoteError> {
        let mut sink = self.sink.lock().await;
        let sink = match &mut *sink {
            Some(sink) => sink,
            none => {
                let (ours, stream) = self.open().await?.split();
                let mut tasks = self.tasks.lock().await;
                tasks.spawn(self.clone().read(stream));
                tasks.spawn(self.clone().ping());
                none.insert(ours)
            }
        };
        let text = Utf8Bytes::try_from(message);
        let text = text.map_err(|error| self.web.error(Cause::Broken(error.to_string())))?;
        let sent = sink.send(Message::Text(text)).await;
        sent.map_err(|error| self.web.error(self.why(&error)))
    }

    async fn end(self: Arc<Self>) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().await);
        let _ = timeout(CLOSING, async {
            if let Some(mut sink) = self.sink.lock().await.take() {
                let _ = sink.close().await;
                // The reading task ends with the answer.
                tasks.join_next().await;
            }
        })
        .await;
        tasks.shutdown().await;
        let _ = self.inbox.send(AgentEvent::End(Ok(()))).await;
    }
}

/// The meaning of the other side's close frame.
fn close_result(frame: Option<CloseFrame>) -> Result<(), Cause> {
    match frame {
        None => Ok(()),
        Some(frame) if [CloseCode::Normal, CloseCode::Away].contains(&frame.code) => Ok(()),
        Some(frame) => {
            let reason = quote(&frame.reason, MAX_QUOTE);
            Err(Cause::Ended(format!(
                "{reason} ({})",
                u16::from(frame.code)
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use acp_chain_rpc::transport::{Frame, Outbox, Transport};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_tungstenite::accept_async;

    use super::*;
    use crate::client::{Target, connect};

    type Server = WebSocketStream<TcpStream>;

    /// A transport after `initialize`, and the server's end.
    async fn ends(limit: usize) -> (Transport, Server) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Target {
            address: format!("ws://{address}/").parse().unwrap(),
            token: None,
            ca: None,
        };
        let mut transport = connect(&target, limit).unwrap();
        let mut outbox = Outbox::default();
        outbox.push_str("initialize\n");
        let accepting = async {
            accept_async(listener.accept().await.unwrap().0)
                .await
                .unwrap()
        };
        let (written, mut server) =
            tokio::join!(transport.outgoing.write_all(&mut outbox), accepting);
        written.unwrap();
        assert_eq!(
            server.next().await.unwrap().unwrap(),
            Message::text("initialize")
        );
        (transport, server)
    }

    /// All messages of a transport, and how it ends.
    async fn received(transport: &mut Transport) -> (Vec<Bytes>, io::Result<bool>) {
        let mut lines = Vec::new();
        loop {
            let read = transport.incoming.read().await;
            if !matches!(read, Ok(true)) {
                return (lines, read);
            }
            while let Some(frame) = transport.incoming.next_frame() {
                let Frame::Line(line) = frame else {
                    panic!("{frame:?}");
                };
                lines.push(line);
            }
        }
    }

    #[tokio::test]
    async fn each_text_is_a_line_and_a_close_frame_is_the_end() {
        let (mut transport, mut server) = ends(100).await;
        for message in [
            Message::binary("[]"),
            Message::text("{\n \"a\": 1e400\r}\n{\"b\":1}\x1b[0m"),
            Message::text(" "),
            Message::Ping("x".into()),
            Message::text("{}"),
        ] {
            server.send(message).await.unwrap();
        }
        server.close(None).await.unwrap();
        let (lines, end) = received(&mut transport).await;
        assert_eq!(lines, ["[]", "{  \"a\": 1e400 }", "{\"b\":1}", "{}"]);
        assert!(matches!(end, Ok(false)), "{end:?}");
    }

    #[tokio::test]
    async fn any_other_end_is_an_error() {
        let (mut transport, server) = ends(100).await;
        drop(server);
        let (_, end) = received(&mut transport).await;
        assert!(end.unwrap_err().to_string().contains("may be lost"));

        let (mut transport, mut server) = ends(100).await;
        let reason = CloseFrame {
            code: CloseCode::Policy,
            reason: "too\u{1b} much".into(),
        };
        server.close(Some(reason)).await.unwrap();
        let (_, end) = received(&mut transport).await;
        let end = end.unwrap_err().to_string();
        assert!(end.contains("too\\u{1b} much (1008)"), "{end}");

        let (mut transport, mut server) = ends(100).await;
        server.send(Message::text("x".repeat(101))).await.unwrap();
        let (_, end) = received(&mut transport).await;
        let end = end.unwrap_err().to_string();
        assert!(end.contains("more than 100 bytes"), "{end}");
    }

    #[tokio::test]
    async fn closing_sends_a_close_frame_and_ends() {
        let (mut transport, mut server) = ends(100).await;
        transport.outgoing.close();
        let answering = async {
            let frame = server.next().await;
            assert!(matches!(frame, Some(Ok(Message::Close(_)))), "{frame:?}");
            assert!(server.next().await.is_none());
        };
        let ((), (_, end)) = tokio::join!(answering, received(&mut transport));
        assert!(matches!(end, Ok(false)), "{end:?}");
    }
}
