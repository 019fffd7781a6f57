//! A component's standard output and error: lines in the log, up to a limit.
//!
//! No toolchain needs them, but an interpreter prints there why it gave up.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

/// So much of the end is kept for the report of a failure.
const KEPT: usize = 4 * 1024;

/// So much in all goes to the log.
const LOGGED: usize = 256 * 1024;

/// Where the output of one proxy goes. Cloning it shares it.
#[derive(Clone, Debug)]
pub struct Output {
    name: Arc<str>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    tail: Vec<u8>,
    logged: usize,
}

impl Output {
    pub fn new(name: Arc<str>) -> Self {
        Self {
            name,
            shared: Arc::default(),
        }
    }

    /// The last that was written.
    pub fn tail(&self) -> String {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&shared.tail).trim().to_owned()
    }

    fn take_in(&self, bytes: &[u8]) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let new = &bytes[bytes.len().saturating_sub(KEPT)..];
        let surplus = (shared.tail.len() + new.len()).saturating_sub(KEPT);
        shared.tail.drain(..surplus);
        shared.tail.extend_from_slice(new);
        if shared.logged < LOGGED {
            shared.logged += bytes.len();
            tracing::info!(proxy = %self.name, "printed: {}", String::from_utf8_lossy(bytes).trim_end());
        }
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.take_in(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
