//! The files that proxies read: whether the client gives them.

use std::sync::Arc;

#[derive(Default)]
pub(super) struct Files {
    /// Whether the client's time is running.
    are_timed: bool,
    /// The session of the last file that the client did not give.
    missed: Option<Arc<str>>,
}

impl Files {
    /// A file is read. Returns whether the client's time starts with it.
    pub fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.are_timed, true)
    }

    /// The time is over, and starts again if files are still being read.
    pub fn begin_again(&mut self, are_more: bool) {
        self.are_timed = are_more;
    }

    /// The client has not given a file of this session.
    pub fn miss(&mut self, session: Option<Arc<str>>) {
        self.missed = session;
    }

    /// Whether the client did not give the last one, and that was in this session.
    pub fn are_missed_in(&self, session: Option<&Arc<str>>) -> bool {
        session.is_some() && self.missed.as_ref() == session
    }
}
