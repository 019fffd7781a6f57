//! Requests to stop, by signals.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Resolves with the next signal to terminate, interrupt, hang up or quit.
pub async fn requested() {
    first([
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ])
    .await;
}

/// Resolves with the next signal to terminate or hang up, not with an interrupt, which the caller handles.
pub async fn ordered() {
    first([SignalKind::terminate(), SignalKind::hangup()]).await;
}

async fn first<const N: usize>(kinds: [SignalKind; N]) {
    let signals = kinds.into_iter().filter_map(|kind| signal(kind).ok());
    let waits = signals.map(|mut signal| Box::pin(async move { signal.recv().await }));
    let waits: Vec<_> = waits.collect();
    if waits.is_empty() {
        std::future::pending::<()>().await;
    } else {
        drop(futures_util::future::select_all(waits).await);
    }
}

#[derive(Debug)]
pub struct Interrupts(Signal);

impl Interrupts {
    /// From now on, interrupts no longer end the process.
    pub fn listen() -> io::Result<Self> {
        signal(SignalKind::interrupt()).map(Self)
    }

    /// Resolves with the next interrupt. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
