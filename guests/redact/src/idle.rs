//! Sessions in which no turn runs. Chunks in them are late: no later message would release a withheld tail, so none is
//! withheld.
//!
//! An unknown session counts as having a turn.

use std::cell::RefCell;
use std::collections::BTreeSet;

use acp_chain_secrets::End;

/// The maximum number of sessions. Past it, all are forgotten.
const MOST: usize = 4096;

#[derive(Default)]
pub(crate) struct IdleSessions(RefCell<BTreeSet<String>>);

impl IdleSessions {
    /// A turn begins, or the replay of a history.
    pub(crate) fn remove(&self, session: &str) {
        self.0.borrow_mut().remove(session);
    }

    /// A turn or a replay ends.
    pub(crate) fn insert(&self, session: &str) {
        let mut idle = self.0.borrow_mut();
        if idle.len() >= MOST {
            idle.clear();
        }
        idle.insert(session.to_owned());
    }

    /// Whether more may follow a chunk of a session.
    pub(crate) fn end_of(&self, session: &str) -> End {
        if self.0.borrow().contains(session) {
            End::Here
        } else {
            End::Open
        }
    }
}
