//! A stream of events that has an HTTP/1.1 connection to itself. hyper, which read its request, would keep buffers
//! for heads and bodies while it is idle, more than everything else that such a stream takes.
//!
//! Invariants: the stream is the last answer of its connection (`Connection: close`). Data after its request is read,
//! to notice the end, and discarded. All earlier answers have been sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;

use acp_chain_http::answer::{Answer, EVENTS};
use acp_chain_rpc::Mutex;
use bytes::{BufMut, BytesMut};
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::header::{self, HeaderMap};
use hyper::{StatusCode, Version};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::oneshot;

/// How many bytes of ready events are written at once. Longer events are not copied for that.
const BATCH: usize = 64 * 1024;

/// How many bytes of input are discarded.
const DISCARDED: usize = 64 * 1024;

/// A socket that is lent to hyper.
pub struct LentSocket<S>(Arc<Mutex<Socket<S>>>);

struct Socket<S> {
    stream: S,
    /// Whether hyper has nothing more to write.
    is_flushed: bool,
}

/// Takes the socket back.
pub struct Lender<S> {
    socket: Arc<Mutex<Socket<S>>>,
    answer: oneshot::Receiver<Answer>,
}

/// Decides when the socket is taken back.
pub struct Reclaimer<S> {
    socket: Arc<Mutex<Socket<S>>>,
    sender: Mutex<Option<oneshot::Sender<Answer>>>,
}

/// Lends a socket.
pub fn lend<S>(stream: S) -> (LentSocket<S>, Lender<S>, Reclaimer<S>) {
    let socket = Arc::new(Mutex::new(Socket {
        stream,
        is_flushed: true,
    }));
    let (sender, answer) = oneshot::channel();
    let alone = Reclaimer {
        socket: socket.clone(),
        sender: Mutex::new(Some(sender)),
    };
    let lender = Lender {
        socket: socket.clone(),
        answer,
    };
    (LentSocket(socket), lender, alone)
}

impl<S> Reclaimer<S> {
    /// Passes on an answer that may have the connection to itself; returns any other.
    pub async fn pass(&self, answer: Answer, version: Version) -> Answer {
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind == EVENTS);
        let may_be_alone = is_stream
            && answer.status() == StatusCode::OK
            && version == Version::HTTP_11
            && self.socket.lock().is_flushed;
        let Some(sender) = may_be_alone.then(|| self.sender.lock().take()).flatten() else {
            return answer;
        };
        match sender.send(answer) {
            // The receiver drops this future.
            Ok(()) => std::future::pending().await,
            Err(answer) => answer,
        }
    }
}

impl<S> Lender<S> {
    /// The answer for which to take the socket back. Cancel safe.
    pub async fn wanted(&mut self) -> Answer {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            // The sender is dropped: no answer will come.
            Err(_) => std::future::pending().await,
        }
    }

    /// The socket; `None` while another part still has it.
    pub fn take_back(self) -> Option<S> {
        let socket = Arc::into_inner(self.socket)?;
        Some(socket.into_inner().stream)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LentSocket<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context,
        into: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LentSocket<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut socket = self.0.lock();
        socket.is_flushed = false;
        Pin::new(&mut socket.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        let mut socket = self.0.lock();
        socket.is_flushed = false;
        Pin::new(&mut socket.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.lock().stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        let mut socket = self.0.lock();
        // hyper flushes when it has written everything.
        let flushed = Pin::new(&mut socket.stream).poll_flush(context);
        socket.is_flushed |= matches!(flushed, Poll::Ready(Ok(())));
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().stream).poll_shutdown(context)
    }
}

/// Streams an answer until either end closes.
pub async fn send_stream<S: AsyncRead + AsyncWrite>(stream: S, answer: Answer) {
    let (reader, writer) = tokio::io::split(stream);
    tokio::select! {
        // The client may have disconnected.
        _ = write(writer, answer) => {}
        () = until_closed(reader) => {}
    }
}

async fn write(mut writer: impl AsyncWrite + Unpin, answer: Answer) -> io::Result<()> {
    let (parts, mut body) = answer.into_parts();
    let mut text = head(&parts.headers);
    loop {
        let frame = match text.len() {
            0 => Some(body.frame().await),
            // Ready events go together.
            1..BATCH => body.frame().now_or_never(),
            _ => None,
        };
        let Some(frame) = frame else {
            let text = std::mem::take(&mut text);
            send(&mut writer, &text).await?;
            continue;
        };
        let data = match frame {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(never)) => match never {},
        };
        if data.is_empty() {
            // An empty chunk would end the stream.
            continue;
        }
        text.put_slice(format!("{:x}\r\n", data.len()).as_bytes());
        match data.len() {
            ..BATCH => text.put_slice(&data),
            _ => {
                let text = std::mem::take(&mut text);
                writer.write_all(&text).await?;
                writer.write_all(&data).await?;
            }
        }
        text.put_slice(b"\r\n");
    }
    text.put_slice(b"0\r\n\r\n");
    send(&mut writer, &text).await?;
    writer.shutdown().await
}

async fn send(writer: &mut (impl AsyncWrite + Unpin), text: &[u8]) -> io::Result<()> {
    writer.write_all(text).await?;
    writer.flush().await
}

/// The head of an answer whose status is 200, and whose body comes in chunks (RFC 9112, 7.1).
fn head(headers: &HeaderMap) -> BytesMut {
    let mut text = BytesMut::with_capacity(512);
    text.put_slice(b"HTTP/1.1 200 OK\r\n");
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            text.put_slice(part);
        }
    }
    let date = httpdate::fmt_http_date(SystemTime::now());
    let rest = format!("date: {date}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    text.put_slice(rest.as_bytes());
    text
}

/// Waits until the other end closes, or sends too much.
async fn until_closed(mut reader: impl AsyncRead + Unpin) {
    let mut left = DISCARDED;
    loop {
        let mut bytes = [0; 64];
        match reader.read(&mut bytes).await {
            Ok(count @ 1..) if count <= left => left -= count,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures_util::stream;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use hyper::header::HeaderValue;

    use super::*;
    use acp_chain_http::answer::{bare, with};

    fn stream_of(parts: Vec<Bytes>) -> Answer {
        let frames = parts
            .into_iter()
            .map(|part| Ok::<_, Infallible>(Frame::data(part)));
        let body = StreamBody::new(stream::iter(frames.collect::<Vec<_>>()));
        let mut answer = with(StatusCode::OK, body.boxed_unsync());
        let kind = HeaderValue::from_static("text/event-stream");
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
        answer
    }

    /// The text of a chunked body.
    fn joined(mut text: &[u8]) -> Vec<u8> {
        let mut joined = Vec::new();
        loop {
            let end = text.windows(2).position(|two| two == b"\r\n").unwrap();
            let size = std::str::from_utf8(&text[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            let (chunk, rest) = text[end + 2..].split_at(size);
            joined.extend_from_slice(chunk);
            text = rest.strip_prefix(b"\r\n").unwrap();
            if size == 0 {
                assert!(text.is_empty());
                return joined;
            }
        }
    }

    #[tokio::test]
    async fn a_stream_arrives_whole_whatever_the_sizes_of_its_parts() {
        let sizes = [0, 1, 0, 100, BATCH - 1, BATCH, 3 * BATCH, 7];
        let parts: Vec<_> = sizes
            .map(|size| Bytes::from(vec![b'a' + u8::try_from(size % 26).unwrap(); size]))
            .into();
        let all = parts.concat();
        let (ours, mut theirs) = tokio::io::duplex(1000);
        let mut text = Vec::new();
        let ((), read) = tokio::join!(
            send_stream(ours, stream_of(parts)),
            theirs.read_to_end(&mut text)
        );
        read.unwrap();
        let end = text
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        let head = std::str::from_utf8(&text[..end]).unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        for line in ["content-type: text/event-stream", "connection: close"] {
            assert!(head.contains(&format!("\r\n{line}\r\n")), "{head}");
        }
        assert_eq!(joined(&text[end + 4..]), all);
    }

    #[tokio::test]
    async fn a_stream_ends_when_the_client_closes_or_sends_too_much() {
        for sends in [0, DISCARDED + 1] {
            let (ours, mut theirs) = tokio::io::duplex(1000);
            let silence = stream::pending::<Result<Frame<Bytes>, Infallible>>();
            let mut answer = stream_of(Vec::new());
            *answer.body_mut() = StreamBody::new(silence).boxed_unsync();
            let sending = async {
                // Not all of it is read.
                let _ = theirs.write_all(&vec![b'x'; sends]).await;
                let _ = theirs.shutdown().await;
            };
            tokio::join!(send_stream(ours, answer), sending);
        }
    }

    #[tokio::test]
    async fn a_socket_is_taken_back_only_for_a_stream_and_after_a_flush() {
        let (ours, _theirs) = tokio::io::duplex(1000);
        let (mut lent, mut lender, alone) = lend(ours);
        let is_back = |answer, version| {
            let passed = alone.pass(answer, version).now_or_never();
            passed.is_some()
        };
        assert!(is_back(bare(StatusCode::OK), Version::HTTP_11));
        assert!(is_back(stream_of(Vec::new()), Version::HTTP_2));
        assert!(is_back(stream_of(Vec::new()), Version::HTTP_10));
        lent.write_all(b"x").await.unwrap();
        assert!(is_back(stream_of(Vec::new()), Version::HTTP_11));
        lent.flush().await.unwrap();
        assert!(!is_back(stream_of(Vec::new()), Version::HTTP_11));
        lender.wanted().await;
        drop((lent, alone));
        assert!(lender.take_back().is_some());
    }
}
