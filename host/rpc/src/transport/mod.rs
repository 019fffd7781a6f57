//! How messages come from the other end of a connection, and get there.
//!
//! What always holds: a transport cuts what comes in into messages of bounded length, and reads no more of them
//! than their envelopes. It holds no more than one that is not whole yet, and one read; what waits to leave waits in an
//! [`Outbox`], whose bytes its owner counts. [`Transport::lines`] is that of ACP over standard streams.

mod line_reader;
mod line_writer;
mod outbox;

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

pub use line_reader::{Frame, LineReader};
pub use line_writer::LineWriter;
pub use outbox::Outbox;

/// Both ways between us and another end.
pub struct Transport {
    /// What it says.
    pub incoming: Box<dyn Incoming>,
    /// What is said to it.
    pub outgoing: Box<dyn Outgoing>,
}

/// What another end says. Whoever polled last is woken.
pub trait Incoming: Send {
    /// Reads some of what comes; `false` at the end of it.
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>>;

    /// The next message of what was read.
    fn next_frame(&mut self) -> Option<Frame>;
}

/// What is said to another end. Whoever polled last is woken.
pub trait Outgoing: Send {
    /// Writes some of what waits, and sees that it leaves when nothing waits any more. Pending while there is
    /// nothing to do, and once this is closed.
    fn poll_write(&mut self, outbox: &mut Outbox, context: &mut Context) -> Poll<io::Result<()>>;

    /// Whether all that was written has left.
    fn is_flushed(&self) -> bool;

    /// Ends what is said, for the other end to see.
    fn close(&mut self);

    /// Whether it is not closed.
    fn is_open(&self) -> bool;
}

impl Transport {
    /// A line for each message, on two streams of bytes. Those that come in may have this length, in bytes.
    pub fn lines(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        Self {
            incoming: Box::new(LineReader::new(reader, limit)),
            outgoing: Box::new(LineWriter::new(writer)),
        }
    }

    /// To an end that says nothing, and to which nothing can be said.
    #[must_use]
    pub fn silent() -> Self {
        Self {
            incoming: Box::new(Silence),
            outgoing: Box::new(Silence),
        }
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

impl dyn Incoming {
    /// [`poll_read`](Incoming::poll_read), as a future. Cancel safe.
    pub async fn read(&mut self) -> io::Result<bool> {
        poll_fn(|context| self.poll_read(context)).await
    }
}

impl dyn Outgoing {
    /// [`poll_write`](Outgoing::poll_write), as a future. Cancel safe.
    pub async fn write(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        poll_fn(|context| self.poll_write(outbox, context)).await
    }

    /// Writes all that waits, and sees that it leaves; at once if this is closed. Cancel safe.
    pub async fn write_all(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        while self.is_open() && !(outbox.is_empty() && self.is_flushed()) {
            self.write(outbox).await?;
        }
        Ok(())
    }
}

struct Silence;

impl Incoming for Silence {
    fn poll_read(&mut self, _: &mut Context) -> Poll<io::Result<bool>> {
        Poll::Pending
    }

    fn next_frame(&mut self) -> Option<Frame> {
        None
    }
}

impl Outgoing for Silence {
    fn poll_write(&mut self, _: &mut Outbox, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn is_flushed(&self) -> bool {
        true
    }

    fn close(&mut self) {}

    fn is_open(&self) -> bool {
        false
    }
}
