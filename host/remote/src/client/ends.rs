//! The two halves of the transport to a remote agent, over any connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::{io, iter};

use acp_chain_rpc::transport::{Frame, Incoming, Outbox, Outgoing, Transport};
use bytes::Bytes;
use tokio::sync::mpsc;

use super::error::RemoteError;

/// An event from a remote agent.
#[derive(Debug)]
pub enum AgentEvent {
    /// A message, on one line.
    Message(Bytes),
    /// The end.
    End(Result<(), RemoteError>),
}

/// The sender of events, with room for one.
pub type Inbox = mpsc::Sender<AgentEvent>;

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
    let (inbox, events) = mpsc::channel(1);
    Transport {
        incoming: Box::new(IncomingMessages { events, next: None }),
        outgoing: Box::new(OutgoingMessages {
            link: Arc::new(link(inbox)),
            sending: None,
            is_open: true,
        }),
        is_read: || false,
    }
}

struct IncomingMessages {
    events: mpsc::Receiver<AgentEvent>,
    next: Option<Bytes>,
}

impl Incoming for IncomingMessages {
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        Poll::Ready(match ready!(self.events.poll_recv(context)) {
            Some(AgentEvent::Message(message)) => {
                self.next = Some(message);
                Ok(true)
            }
            Some(AgentEvent::End(end)) => {
                self.events.close();
                end.map(|()| false).map_err(io::Error::from)
            }
            None => Ok(false),
        })
    }

    fn next_frame(&mut self) -> Option<Frame> {
        self.next.take().map(Frame::Line)
    }
}

type SendFuture = Pin<Box<dyn Future<Output = Result<(), RemoteError>> + Send>>;

struct OutgoingMessages<L> {
    link: Arc<L>,
    sending: Option<SendFuture>,
    is_open: bool,
}

impl<L: Link> Outgoing for OutgoingMessages<L> {
    fn poll_write(&mut self, outbox: &mut Outbox, context: &mut Context) -> Poll<io::Result<()>> {
        if !self.is_open {
            return Poll::Pending;
        }
        if self.sending.is_none() {
            let mut lines = iter::from_fn(|| outbox.take_line());
            let message = lines.find(|line| !line.is_empty());
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
