//! Reads the client, or the user of a trial, ahead, so that the end of its stream is noticed even while the chain does
//! not read.

use std::future::pending;

use tokio::io::{AsyncRead, DuplexStream, copy, duplex};
use tokio::sync::watch;

/// How much of the client's output is buffered, in bytes. When the buffer is full, the client is not read further.
const AHEAD: usize = 64 * 1024;

/// Completes when the client disconnects.
pub struct Disconnect(Option<watch::Receiver<()>>);

impl Disconnect {
    /// Never completes.
    pub fn never() -> Self {
        Self(None)
    }

    /// Waits until the client has disconnected. Cancel safe.
    pub async fn wait(&mut self) {
        match &mut self.0 {
            Some(connected) => while connected.changed().await.is_ok() {},
            None => pending().await,
        }
    }
}

/// Reads the client's output ahead. Returns the output, and the client's disconnect.
pub fn read_ahead(
    mut input: impl AsyncRead + Send + Unpin + 'static,
) -> (DuplexStream, Disconnect) {
    let (mut ours, theirs) = duplex(AHEAD);
    let (guard, connected) = watch::channel(());
    tokio::spawn(async move {
        let _guard = guard;
        // An unreadable stream has ended.
        let _ = copy(&mut input, &mut ours).await;
    });
    (theirs, Disconnect(Some(connected)))
}
