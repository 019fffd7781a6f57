//! Which subscription on a connection is whose.
//!
//! A provider tells its subscriptions apart by the id that `subscriptions/listen` had on its hop, and
//! only it knows that one. The acknowledgement is the first to name it, so as long as one is out no
//! other request is sent, and the next acknowledgement of an unknown id is of that one.

use std::collections::VecDeque;

use super::CallerRequest;
use crate::seat::Question;
use acp_chain_rpc::Id;

/// The subscriptions of a connection.
#[derive(Debug, Default)]
pub(super) struct Listens {
    asking: Option<Question>,
    known: Vec<(Id, Question)>,
    /// Those that are not sent yet.
    pub waiting: VecDeque<CallerRequest<'static>>,
}

impl Listens {
    /// Whether one is out that is not acknowledged.
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

    /// Which one the provider means.
    pub fn of(&mut self, theirs: Id, acknowledges: bool) -> Option<Question> {
        let known = self.known.iter().find(|(id, _)| *id == theirs);
        if let Some((_, question)) = known {
            return Some(*question);
        }
        let question = self.asking.take_if(|_| acknowledges)?;
        self.known.push((theirs, question));
        Some(question)
    }

    /// One is over.
    pub fn end(&mut self, question: Question) {
        self.asking.take_if(|asking| *asking == question);
        self.known.retain(|(_, of)| *of != question);
    }
}
