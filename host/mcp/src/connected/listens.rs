//! The owners of subscriptions on a connection.
//!
//! A provider identifies its subscriptions by the id that `subscriptions/listen` had on its hop, which only it knows.
//! The acknowledgement is the first to name it, so while one request is unacknowledged no other is sent, and the next
//! acknowledgement with an unknown id belongs to it.

use std::collections::VecDeque;

use super::CallerRequest;
use crate::Question;
use acp_chain_rpc::Id;

/// The subscriptions of a connection.
#[derive(Debug, Default)]
pub(super) struct Listens {
    asking: Option<Question>,
    known: Vec<(Id, Question)>,
    /// Those not sent yet.
    pub waiting: VecDeque<CallerRequest<'static>>,
}

impl Listens {
    /// Whether one is sent but not acknowledged.
    pub fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Whether any is open at the provider.
    pub fn is_used(&self) -> bool {
        self.is_asking() || !self.known.is_empty()
    }

    /// One was sent.
    pub fn ask(&mut self, question: Question) {
        self.asking = Some(question);
    }

    /// The one that the provider means.
    pub fn of(&mut self, theirs: Id, acknowledges: bool) -> Option<Question> {
        let known = self.known.iter().find(|(id, _)| *id == theirs);
        if let Some((_, question)) = known {
            return Some(*question);
        }
        let question = self.asking.take_if(|_| acknowledges)?;
        self.known.push((theirs, question));
        Some(question)
    }

    /// One has ended.
    pub fn end(&mut self, question: Question) {
        self.asking.take_if(|asking| *asking == question);
        self.known.retain(|(_, of)| *of != question);
    }
}
