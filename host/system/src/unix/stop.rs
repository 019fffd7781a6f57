//! Being asked to stop, by a signal.

use tokio::signal::unix::{SignalKind, signal};

/// Done when the system asks us to stop.
pub async fn requested() {
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let signals = kinds.into_iter().filter_map(|kind| signal(kind).ok());
    let waits = signals.map(|mut signal| Box::pin(async move { signal.recv().await }));
    let waits: Vec<_> = waits.collect();
    match waits.is_empty() {
        true => std::future::pending().await,
        false => drop(futures_util::future::select_all(waits).await),
    }
}
