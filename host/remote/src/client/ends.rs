//! The two halves of the transport to a remote agent, over any connection.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use acp_chain_rpc::transport::{Frame, Incoming, Outbox, Outgoing, Transport};
use bytes::{Buf, Bytes};
use tokio::sync::mpsc;

use super::error::RemoteError;

/// An event from a remote agent.
#[derive(Debug)]
pub enum Heard {
    /// A message, on one line.
    Message(Bytes),
    /// The end.
    End(Result<(), RemoteError>),
}

/// Where events go. It has room for one.
pub type Inbox = mpsc::Sender<Heard>;

/// A connection to a remote agent, which begins with the first message.
pub trait Link: Send + Sync + 'static {
    /// Sends a message; resolves when it is accepted. One is sent at a time.
    fn send(
        self: Arc<Self>,
        message: Bytes,
    ) -> impl Future<Output = Result<(), RemoteError>> + Send;

    /// Closes the connection in both directions.
    fn end(self: Arc<Self>) -> impl Future<Output = ()> + Send;
}

/// A transport over the link that this creates, which puts its events into the inbox.
pub fn transport<L: Link>(link: impl FnOnce(Inbox) -> L) -> Transport {
    let (inbox, heard) = mpsc::channel(1);
    Transport {
        incoming: Box::new(Inward { heard, next: None }),
        outgoing: Box::new(Outward {
            link: Arc::new(link(inbox)),
            begun: Vec::new(),
            sending: None,
            is_open: true,
        }),
    }
}

/// The bytes of a message, without line breaks between tokens: JSON has them nowhere else.
pub fn on_one_line(message: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    let mut line = Vec::from(message);
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.into()
}

struct Inward {
    heard: mpsc::Receiver<Heard>,
    next: Option<Bytes>,
}

impl Incoming for Inward {
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        Poll::Ready(match ready!(self.heard.poll_recv(context)) {
            Some(Heard::Message(message)) => {
                self.next = Some(message);
                Ok(true)
            }
            Some(Heard::End(end)) => {
                self.heard.close();
                end.map(|()| false).map_err(io::Error::from)
            }
            None => Ok(false),
        })
    }

    fn next_frame(&mut self) -> Option<Frame> {
        self.next.take().map(Frame::Line)
    }
}

type Sending = Pin<Box<dyn Future<Output = Result<(), RemoteError>> + Send>>;

struct Outward<L> {
    link: Arc<L>,
    /// The parts of an incomplete message.
    begun: Vec<Bytes>,
    sending: Option<Sending>,
    is_open: bool,
}

impl<L> Outward<L> {
    /// The next complete message.
    fn take(&mut self, outbox: &mut Outbox) -> Option<Bytes> {
        while outbox.has_remaining() {
            let chunk = outbox.chunk();
            let end = memchr::memchr(b'\n', chunk);
            let part = outbox.copy_to_bytes(end.unwrap_or(chunk.len()));
            self.begun.push(part);
            if end.is_none() {
                continue;
            }
            outbox.advance(1);
            // A long message is a single part, which need not be copied.
            self.begun.retain(|part| !part.is_empty());
            let mut parts = std::mem::take(&mut self.begun);
            match parts.len() {
                0 => {}
                1 => return parts.pop(),
                _ => return Some(parts.concat().into()),
            }
        }
        None
    }
}

impl<L: Link> Outgoing for Outward<L> {
    fn poll_write(&mut self, outbox: &mut Outbox, context: &mut Context) -> Poll<io::Result<()>> {
        if !self.is_open {
            return Poll::Pending;
        }
        if self.sending.is_none() {
            let message = self.take(outbox);
            self.sending = message.map(|message| Box::pin(self.link.clone().send(message)) as _);
        }
        let Some(sending) = &mut self.sending else {
            return Poll::Pending;
        };
        let sent = ready!(sending.as_mut().poll(context));
        self.sending = None;
        Poll::Ready(sent.map_err(io::Error::from))
    }

    fn is_flushed(&self) -> bool {
        self.sending.is_none()
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.sending = None;
            tokio::spawn(self.link.clone().end());
        }
    }

    fn is_open(&self) -> bool {
        self.is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Link for Nobody {
        async fn send(self: Arc<Self>, _: Bytes) -> Result<(), RemoteError> {
            Ok(())
        }

        async fn end(self: Arc<Self>) {}
    }

    #[test]
    fn messages_are_taken_whole_however_they_are_queued() {
        let mut outward = Outward {
            link: Arc::new(Nobody),
            begun: Vec::new(),
            sending: None,
            is_open: true,
        };
        let mut outbox = Outbox::default();
        let long = Bytes::from(vec![b'x'; 100_000]);
        outbox.push_str("{}\n\n[");
        outbox.push(&long);
        assert_eq!(outward.take(&mut outbox).as_deref(), Some(&b"{}"[..]));
        assert_eq!(outward.take(&mut outbox), None);
        outbox.push_str("]\n");
        outbox.push(&long);
        outbox.push_str("\n");
        let whole = [b"[", &long[..], b"]"].concat();
        assert_eq!(outward.take(&mut outbox).as_deref(), Some(&whole[..]));
        let shared = outward.take(&mut outbox).unwrap();
        assert_eq!(shared.as_ptr(), long.as_ptr());
        assert_eq!(outward.take(&mut outbox), None);
    }

    #[test]
    fn line_breaks_become_spaces_and_all_else_stays() {
        let kept = Bytes::from_static(br#"{"a":"\n"}"#);
        assert_eq!(on_one_line(kept.clone()).as_ptr(), kept.as_ptr());
        assert_eq!(on_one_line(Bytes::from_static(b"{\r\n1e400}")), "{  1e400}");
    }
}
