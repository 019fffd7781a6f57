//! Maps subscription ids on a connection to the requests that opened them.
//!
//! A subscription's id is the id of `subscriptions/listen` on the provider's hop, which the seat does not know. The
//! acknowledgement is the first message with this id. So while one request is unacknowledged, no other is sent, and the
//! next acknowledgement with an unknown id belongs to it.

use crate::Question;
use acp_chain_rpc::Id;

/// The subscriptions of a connection.
#[derive(Debug, Default)]
pub(super) struct Listens {
    /// The request that is unacknowledged.
    pub asking: Option<Question>,
    known: Vec<(Id, Question)>,
}

impl Listens {
    /// Whether any request is open at the provider.
    pub fn is_used(&self) -> bool {
        self.asking.is_some() || !self.known.is_empty()
    }

    /// The request with this id at the provider. An acknowledgement assigns an unknown id.
    pub fn of(&mut self, theirs: Id, acknowledges: bool) -> Option<Question> {
        let known = self.known.iter().find(|(id, _)| *id == theirs);
        if let Some((_, question)) = known {
            return Some(*question);
        }
        let question = self.asking.take_if(|_| acknowledges)?;
        self.known.push((theirs, question));
        Some(question)
    }

    /// Removes an ended request.
    pub fn end(&mut self, question: Question) {
        self.asking.take_if(|asking| *asking == question);
        self.known.retain(|(_, of)| *of != question);
    }
}
