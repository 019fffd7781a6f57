//! Files that proxies read through the client: whether the client answers these requests.

use std::sync::Arc;

#[derive(Default)]
pub(super) struct Files {
    /// Whether a timer for the client's answers is running.
    are_timed: bool,
    /// The session of the last read that the client did not answer.
    missed: Option<Arc<str>>,
}

impl Files {
    /// Notes a read. Returns whether a timer must be started.
    pub fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.are_timed, true)
    }

    /// Notes that the timer has run out; it runs again if there are further open reads.
    pub fn begin_again(&mut self, are_more: bool) {
        self.are_timed = are_more;
    }

    /// Notes that the client did not answer a read in this session.
    pub fn miss(&mut self, session: Option<Arc<str>>) {
        self.missed = session;
    }

    /// Whether the last read was in this session, and the client did not answer it.
    pub fn are_missed_in(&self, session: Option<&Arc<str>>) -> bool {
        session.is_some() && self.missed.as_ref() == session
    }
}
