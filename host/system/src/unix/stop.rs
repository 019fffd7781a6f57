//! Being asked to stop, by a signal.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Resolves when the system asks us to stop.
pub async fn requested() {
    first([
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ])
    .await;
}

/// The same, except for an interrupt, which has another meaning.
pub async fn ordered() {
    first([SignalKind::terminate(), SignalKind::hangup()]).await;
}

async fn first<const N: usize>(kinds: [SignalKind; N]) {
    let signals = kinds.into_iter().filter_map(|kind| signal(kind).ok());
    let waits = signals.map(|mut signal| Box::pin(async move { signal.recv().await }));
    let waits: Vec<_> = waits.collect();
    match waits.is_empty() {
        true => std::future::pending().await,
        false => drop(futures_util::future::select_all(waits).await),
    }
}

/// The user's Ctrl-C.
#[derive(Debug)]
pub struct Interrupts(Signal);

impl Interrupts {
    /// Listens from now on; these signals no longer end us.
    pub fn listen() -> io::Result<Self> {
        signal(SignalKind::interrupt()).map(Self)
    }

    /// Resolves with the next one. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
