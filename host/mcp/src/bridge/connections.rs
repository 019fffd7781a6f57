//! The connections through one entrance, at most [`MCP_CONNECTIONS`].
//!
//! Connections that have not shown a secret make room for new ones, the oldest first: a flood of strangers keeps
//! nobody out.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};

use super::registry::Registry;
use acp_chain_channel::limits::MCP_CONNECTIONS;

/// How long to stop accepting when the system is out of resources.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether somebody has shown a secret.
#[derive(Default)]
pub struct Known {
    shown: AtomicBool,
    told: Notify,
}

impl Known {
    /// It was shown.
    pub fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
        self.told.notify_one();
    }

    /// Waits until it is shown, once.
    pub async fn shown(&self) {
        self.told.notified().await;
    }
}

/// All connections through one entrance. They end when it is dropped.
#[derive(Default)]
pub struct Connections {
    open: JoinSet<()>,
    /// By age.
    strangers: VecDeque<(Arc<Known>, AbortHandle)>,
}

impl Connections {
    /// Serves one more. False if there is no room for it.
    async fn serve<F>(&mut self, serve: impl FnOnce(Arc<Known>) -> F) -> bool
    where
        F: Future<Output = ()> + Send + 'static,
    {
        while self.open.try_join_next().is_some() {}
        let is_stranger = |known: &Known| !known.shown.load(Ordering::Relaxed);
        self.strangers
            .retain(|(known, task)| is_stranger(known) && !task.is_finished());
        if self.open.len() >= MCP_CONNECTIONS {
            let Some((_, oldest)) = self.strangers.pop_front() else {
                return false;
            };
            oldest.abort();
            self.open.join_next().await;
        }
        let known = Arc::<Known>::default();
        let task = self.open.spawn(serve(Arc::clone(&known)));
        self.strangers.push_back((known, task));
        true
    }
    /// Serves a new connection, unless it belongs to another user, in which case there is none. Waits for a while if
    /// the system is out of resources.
    pub async fn welcome<S, F>(
        &mut self,
        registry: &Registry,
        came: io::Result<Option<S>>,
        serve: impl FnOnce(S, Arc<Known>) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        match came {
            Ok(None) => registry.turned_away("it is of another user"),
            Ok(Some(stream)) => {
                if !self.serve(|known| serve(stream, known)).await {
                    registry.turned_away("there are too many connections");
                }
            }
            Err(error) => {
                tracing::warn!("no MCP client gets in for a while: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
