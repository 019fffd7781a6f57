//! Transports: how messages are received from, and sent to, the other end of a connection.
//!
//! Invariants: a transport splits its input into messages of bounded length, and reads only their envelopes. It keeps
//! at most one incomplete message, and the bytes of one read; output waits in an [`Outbox`], whose bytes its owner
//! counts. [`Transport::lines`] is ACP over standard streams.

mod batches;
mod drain;
pub mod lenient;
mod line_reader;
mod line_writer;
mod outbox;

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

pub use batches::Batches;
pub use drain::Drain;
pub use lenient::LenientReader;
pub use line_reader::{Frame, LineReader};
pub use line_writer::LineWriter;
pub use outbox::Outbox;

/// Both directions of a connection to another end.
pub struct Transport {
    /// The messages from the other end.
    pub incoming: Box<dyn Incoming>,
    /// The messages to the other end.
    pub outgoing: Box<dyn Outgoing>,
    /// Whether the other end still reads; called after its messages have ended. A transport that cannot find out
    /// returns false.
    pub is_read: fn() -> bool,
}

/// The messages from another end. The last poller is woken.
pub trait Incoming: Send {
    /// Reads some input; `false` at its end.
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>>;

    /// The next message that was read.
    fn next_frame(&mut self) -> Option<Frame>;
}

/// The messages to another end. The last poller is woken.
pub trait Outgoing: Send {
    /// Writes some of the queue, and flushes when it is empty. Pending while there is nothing to do, and once this is
    /// closed.
    fn poll_write(&mut self, outbox: &mut Outbox, context: &mut Context) -> Poll<io::Result<()>>;

    /// Whether everything written was flushed.
    fn is_flushed(&self) -> bool;

    /// Closes the output, visibly for the other end.
    fn close(&mut self);

    /// Whether it is not closed.
    fn is_open(&self) -> bool;
}

impl Transport {
    /// A transport with a line for each message, on two byte streams. Incoming lines may have `limit` bytes; some
    /// malformed ones are [repaired](lenient).
    ///
    /// The transport cannot find out whether the other end reads.
    pub fn lines(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        Self {
            incoming: Box::new(LenientReader::new(LineReader::new(reader, limit))),
            outgoing: Box::new(LineWriter::new(writer)),
            is_read: || false,
        }
    }

    /// A transport to an end that sends nothing, and accepts nothing.
    pub fn silent() -> Self {
        Self {
            incoming: Box::new(Silence),
            outgoing: Box::new(Silence),
            is_read: || false,
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

    /// Writes everything that waits, and flushes; returns at once if this is closed. Cancel safe.
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
