//! A running turn. Its end is recorded, however it ends.

use std::sync::Arc;
use std::time::Instant;

use acp_chain_rpc::{Error, Kind, Message, member};

use super::access_log::{Entry, LogContext};
use super::metrics::TurnEnd;
use super::shares::TurnPermits;

/// A running turn. A dropped one ended with its connection.
#[derive(Debug)]
pub struct Turn {
    begun: Instant,
    session: Option<Arc<str>>,
    /// The permits of a turn that a prompt began.
    permits: Option<TurnPermits>,
    /// How many permissions were requested from the client.
    pub permissions: u32,
    log: Arc<LogContext>,
    has_ended: bool,
}

impl Turn {
    /// A turn that begins now.
    pub fn new(
        session: Option<Arc<str>>,
        permits: Option<TurnPermits>,
        log: Arc<LogContext>,
    ) -> Self {
        Self {
            begun: Instant::now(),
            session,
            permits,
            permissions: 0,
            log,
            has_ended: false,
        }
    }

    /// Ends the turn with the agent's answer.
    pub fn end(mut self, answer: &Message) {
        if answer.kind() == Kind::Error {
            let error: Option<Error> = serde_json::from_str(answer.body()).ok();
            return self.record(TurnEnd::Error, error.map(|error| error.code));
        }
        self.stop(answer.body());
    }

    /// Drops the turn without a record: its prompt joins a running turn.
    pub fn forget(mut self) {
        self.has_ended = true;
    }

    /// Ends the turn with a `state_update`, or an answer, that may have a `stopReason`.
    pub fn stop(mut self, update: &str) {
        let reason = member(update, "stopReason");
        let reason = reason.and_then(|reason| serde_json::from_str::<String>(reason).ok());
        let how = reason.map_or(TurnEnd::Other, |reason| TurnEnd::of(&reason));
        self.record(how, None);
    }

    fn record(&mut self, how: TurnEnd, code: Option<i64>) {
        self.has_ended = true;
        drop(self.permits.take());
        let took = self.begun.elapsed();
        self.log.figures.turned(how, took);
        self.log.write(Entry {
            event: "turn",
            session: self.session.as_deref(),
            end: Some(how.name()),
            code,
            asked: Some(self.permissions),
            ms: took.as_millis(),
            ..Entry::default()
        });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.has_ended {
            self.record(TurnEnd::Lost, None);
        }
    }
}
