//! Writes lines to a stream of bytes.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::{Outbox, Outgoing};

/// Writes the contents of an [`Outbox`], in which each message already ends with a newline.
#[derive(Debug)]
pub struct LineWriter<W> {
    /// `None` when it is closed.
    output: Option<W>,
    /// Whether nothing was written since the last flush.
    is_flushed: bool,
}

impl<W> LineWriter<W> {
    /// Writes to this stream.
    pub fn new(output: W) -> Self {
        Self {
            output: Some(output),
            is_flushed: true,
        }
    }
}

impl<W: AsyncWrite + Send + Unpin> Outgoing for LineWriter<W> {
    fn poll_write(&mut self, outbox: &mut Outbox, context: &mut Context) -> Poll<io::Result<()>> {
        let Some(output) = &mut self.output else {
            return Poll::Pending;
        };
        let mut polled = Poll::Pending;
        if !outbox.is_empty() {
            match pin!(output.write_buf(outbox)).poll(context) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(_)) => self.is_flushed = false,
                other => return other.map_ok(drop),
            }
            polled = Poll::Ready(Ok(()));
        }
        // Even if everything was flushed: a stream may report that its data was lost.
        if outbox.is_empty()
            && let Poll::Ready(flushed) = Pin::new(output).poll_flush(context)
            && (flushed.is_err() || !self.is_flushed)
        {
            self.is_flushed = true;
            polled = Poll::Ready(flushed);
        }
        polled
    }

    fn is_flushed(&self) -> bool {
        self.is_flushed
    }

    fn close(&mut self) {
        self.output = None;
        self.is_flushed = true;
    }

    fn is_open(&self) -> bool {
        self.output.is_some()
    }
}
