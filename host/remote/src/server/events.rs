//! A stream as server-sent events (WHATWG HTML).
//!
//! The first event has the number of the last one before, and no data: a client that loses the stream can resume there.
//! The last one, once the chain has ended, is a comment with the reason.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{BufMut, Bytes, BytesMut};
use hyper::body::{Body, Frame};

use super::connection::Connection;
use super::mailbox::Event;

/// The events of a stream, for one reader.
pub struct Events {
    connection: Arc<Connection>,
    session: Option<Arc<str>>,
    reader: u64,
    first: Option<Bytes>,
    /// Whether the reason of the end was sent.
    is_explained: bool,
    /// Resolves when the reader is no longer allowed to read.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Events {
    /// The events after the event `last`.
    pub fn new(
        connection: Arc<Connection>,
        session: Option<Arc<str>>,
        (reader, last): (u64, u64),
        over: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self {
            connection,
            session,
            reader,
            first: Some(format!("id: {last}\n\n").into()),
            is_explained: false,
            over: Box::pin(over),
        }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if this.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        let session = this.session.as_deref();
        let event = this.connection.poll_event(session, this.reader, context);
        let next = match ready!(event) {
            Some(event) => Some(text(&event)),
            None if this.is_explained || !this.connection.is_closed() => None,
            None => {
                this.is_explained = true;
                Some(format!(": {}\n\n", this.connection.reason()).into())
            }
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.connection.leave(self.session.as_deref(), self.reader);
    }
}

fn text(event: &Event) -> Bytes {
    let mut text = BytesMut::with_capacity(event.text.len() + 40);
    text.put_slice(b"id: ");
    text.put_slice(event.number.to_string().as_bytes());
    text.put_slice(b"\ndata: ");
    let begin = text.len();
    text.put_slice(&event.text);
    // A carriage return would end a line.
    for at in memchr::memchr_iter(b'\r', &event.text) {
        text[begin + at] = b' ';
    }
    text.put_slice(b"\n\n");
    text.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_data() {
        let event = Event {
            number: 7,
            text: Bytes::from_static(b"{\r\"a\":1}\r"),
        };
        assert_eq!(text(&event), "id: 7\ndata: { \"a\":1} \n\n");
    }
}
