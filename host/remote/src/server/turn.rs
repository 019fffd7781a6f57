//! A running turn, and what it records at its end, however it ends.

use std::sync::Arc;
use std::time::Instant;

use acp_chain_rpc::{Error, Kind, Message, member};

use super::access::{Entry, Whose};
use super::metrics::{Figures, TurnEnd};

/// A running turn. A dropped one ended with its connection.
#[derive(Debug)]
pub struct Turn {
    begun: Instant,
    session: Option<Arc<str>>,
    /// How often the client was asked for a permission.
    pub asked: u32,
    figures: Arc<Figures>,
    whose: Arc<Whose>,
    has_ended: bool,
}

impl Turn {
    /// A turn that begins now.
    pub fn new(session: Option<Arc<str>>, figures: Arc<Figures>, whose: Arc<Whose>) -> Self {
        Self {
            begun: Instant::now(),
            session,
            asked: 0,
            figures,
            whose,
            has_ended: false,
        }
    }

    /// The agent has answered.
    pub fn end(mut self, answer: &Message) {
        if answer.kind() == Kind::Error {
            let error: Option<Error> = serde_json::from_str(answer.body()).ok();
            return self.tell(TurnEnd::Error, error.map(|error| error.code));
        }
        self.stop(answer.body());
    }

    /// It is a part of a turn that runs already.
    pub fn forget(mut self) {
        self.has_ended = true;
    }

    /// The agent has said so, and perhaps why.
    pub fn stop(mut self, said: &str) {
        let reason = member(said, "stopReason");
        let reason = reason.and_then(|reason| serde_json::from_str::<String>(reason).ok());
        let how = reason.map_or(TurnEnd::Other, |reason| TurnEnd::of(&reason));
        self.tell(how, None);
    }

    fn tell(&mut self, how: TurnEnd, code: Option<i64>) {
        self.has_ended = true;
        let took = self.begun.elapsed();
        self.figures.turned(how, took);
        self.whose.tell(Entry {
            event: "turn",
            session: self.session.as_deref(),
            end: Some(how.name()),
            code,
            asked: Some(self.asked),
            ms: took.as_millis(),
            ..Entry::default()
        });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.has_ended {
            self.tell(TurnEnd::Lost, None);
        }
    }
}
