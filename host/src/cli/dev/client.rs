//! The client, or the user of a trial, read ahead, so its leaving is noticed even while nobody reads what it says.

use std::future::pending;

use tokio::io::{AsyncRead, DuplexStream, copy, duplex};
use tokio::sync::watch;

/// How much of its output is buffered, in bytes. When the buffer is full, the client is not read further.
const AHEAD: usize = 64 * 1024;

/// Completes when the client leaves.
pub struct Leaving(Option<watch::Receiver<()>>);

impl Leaving {
    /// For a client that need not be watched.
    pub fn unnoticed() -> Self {
        Self(None)
    }

    /// Waits until it has left. Cancel safe.
    pub async fn wait(&mut self) {
        match &mut self.0 {
            Some(here) => while here.changed().await.is_ok() {},
            None => pending().await,
        }
    }
}

/// The client's output.
pub fn read_ahead(mut input: impl AsyncRead + Send + Unpin + 'static) -> (DuplexStream, Leaving) {
    let (mut ours, theirs) = duplex(AHEAD);
    let (is_here, here) = watch::channel(());
    tokio::spawn(async move {
        let _is_here = is_here;
        // An unreadable stream has ended.
        let _ = copy(&mut input, &mut ours).await;
    });
    (theirs, Leaving(Some(here)))
}
