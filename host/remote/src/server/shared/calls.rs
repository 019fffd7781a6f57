//! Calls to the store, as operators watch them: heartbeats and registrations count like all others.

use std::sync::Arc;

use acp_chain_store::{Answer, Call, Client, StoreError};
use tokio::time::Instant;

use super::super::metrics::{Count, Histogram, Page};

/// Calls the store. Clones count together.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    client: Client,
    figures: Arc<CallFigures>,
}

#[derive(Debug)]
struct CallFigures {
    times: Histogram,
    failed: Count,
}

impl Calls {
    pub(super) fn new(client: Client) -> Self {
        let figures = CallFigures {
            times: Histogram::of_calls(),
            failed: Count::default(),
        };
        Self {
            client,
            figures: Arc::new(figures),
        }
    }

    /// Carries out a call, as [`Client::ask`] does.
    pub(super) async fn ask(&self, call: Call) -> Result<Answer, StoreError> {
        let begun = Instant::now();
        let asked = self.client.ask(call).await;
        self.figures.times.add(begun.elapsed());
        if asked.is_err() {
            self.count_failure();
        }
        asked
    }

    /// Counts a call whose answer is no longer waited for.
    pub(super) fn count_failure(&self) {
        self.figures.failed.add(1);
    }

    /// How many calls had no answer.
    pub(super) fn failed(&self) -> u64 {
        self.figures.failed.get()
    }

    /// Writes what operators watch.
    pub(super) fn write(&self, page: &mut Page) {
        page.histogram(
            "acp_chain_store_call_duration_seconds",
            "How long calls to the store of the replicas took.",
            &self.figures.times,
        );
        page.value(
            "acp_chain_store_calls_failed_total",
            "Calls to the store that had no answer, heartbeats among them.",
            self.failed(),
        );
    }
}
