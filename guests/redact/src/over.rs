//! Sessions in which no turn runs. What an agent says in them is late: nothing follows by which a withheld tail would
//! come out, so none is withheld.
//!
//! A session of which nothing is known has a turn.

use std::cell::RefCell;
use std::collections::BTreeSet;

use acp_chain_secrets::End;

/// How many are remembered. Past that, all are forgotten.
const MOST: usize = 4096;

#[derive(Default)]
pub(crate) struct Over(RefCell<BTreeSet<String>>);

impl Over {
    /// A turn begins, or a history.
    pub(crate) fn begin(&self, session: &str) {
        self.0.borrow_mut().remove(session);
    }

    /// It ends.
    pub(crate) fn end(&self, session: &str) {
        let mut over = self.0.borrow_mut();
        if over.len() >= MOST {
            over.clear();
        }
        over.insert(session.to_owned());
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
