//! Sessions that were set up, and which of the projects' proxies their messages pass.

use acp_chain::channel::Peer;

use super::{Fate, MessageRecord, Model, Tag, index};

/// A session that was set up, in a folder that may have a project.
pub(super) struct Session {
    pub load: Tag,
    is_closed: bool,
    /// The project chain that its messages pass besides the user's own proxies, if any, once that is known.
    chain: Option<usize>,
    /// Whether the agent knows it.
    pub is_known: bool,
    /// Whether it failed to begin.
    has_failed: bool,
}

/// The number of the first session that is set up.
const FIRST: usize = 2;

impl Model {
    /// Sessions that existed before. With projects there are none: the host could not know their project.
    pub fn earlier(&self) -> &'static [Option<usize>] {
        if self.has_projects {
            &[None]
        } else {
            &[None, Some(0), Some(1)]
        }
    }

    /// The number of the session that is set up next.
    pub fn next_session(&self) -> usize {
        FIRST + self.sessions.len()
    }

    /// The number of the chain that joins next.
    pub fn next_chain(&self) -> usize {
        let chains = self.hops.iter().filter_map(|hop| hop.chain);
        chains.max().map_or(0, |last| last + 1)
    }

    fn session_mut(&mut self, session: usize) -> &mut Session {
        &mut self.sessions[session - FIRST]
    }

    pub fn is_set_up(&mut self, session: usize, load: Tag) {
        assert_eq!(session, self.next_session());
        self.sessions.push(Session {
            load,
            is_closed: false,
            chain: None,
            is_known: false,
            has_failed: false,
        });
    }

    pub fn is_closed(&mut self, session: usize) {
        self.session_mut(session).is_closed = true;
    }

    /// The sessions that were set up in which an end may speak.
    pub fn sessions_of(&self, end: Peer) -> Vec<usize> {
        let all = self.sessions.iter().enumerate();
        let open = all.filter(|(_, session)| !session.is_closed);
        let known = open.filter(|(_, session)| end == Peer::Client || session.is_known);
        known.map(|(at, _)| FIRST + at).collect()
    }

    /// The project of a session is known: its messages pass this chain, or none.
    pub fn goes(&mut self, session: usize, chain: Option<usize>) {
        self.session_mut(session).chain = chain;
    }

    pub fn is_refused(&mut self, session: usize) {
        self.session_mut(session).has_failed = true;
        let load = self.session_mut(session).load;
        self.ends(load);
    }

    /// The agent answers a request with an error.
    pub fn is_refused_by_agent(&mut self, request: Tag) {
        for session in &mut self.sessions {
            session.has_failed |= session.load == request;
        }
    }

    pub fn is_load(&self, tag: Tag) -> bool {
        self.sessions.iter().any(|session| session.load == tag)
    }

    /// Whether a session may have failed to begin, or was closed: then its messages have no route of their own.
    pub(super) fn is_loose(&self, session: Option<usize>) -> bool {
        let own = session.and_then(|session| session.checked_sub(FIRST));
        let Some(session) = own.map(|own| &self.sessions[own]) else {
            return false;
        };
        let fails = |tag: &Tag| {
            let known = &self.messages[tag];
            known.may_be_lost || known.fate == Fate::Ended
        };
        let mut answers = self.answered.iter();
        session.has_failed
            || session.is_closed
            || self.gone[index(Peer::Agent)]
            || self.withdrawn.contains(&session.load)
            || fails(&session.load)
            || answers.any(|(answer, request)| *request == session.load && fails(answer))
    }

    /// Whether a program of some project may have received a message that it cannot forward: the host no longer knows
    /// the session, so the agent's messages in it are routed as in a session that is being set up.
    pub(super) fn is_for_no_session(&self, session: Option<usize>) -> bool {
        let has_programs = self
            .hops
            .iter()
            .any(|hop| hop.is_native && hop.chain.is_some());
        has_programs && self.is_loose(session)
    }

    /// A proxy receives a message. A project's proxy must be one of the message's session.
    pub fn passes(&mut self, hop: usize, tag: Tag) {
        let Some(chain) = self.hops[hop].chain else {
            return;
        };
        let session = self.session(tag).and_then(|own| own.checked_sub(FIRST));
        let own = session.and_then(|own| self.sessions[own].chain);
        // The agent's messages in a session that is no longer known are routed as in a new one.
        let is_loose = self.is_loose(self.session(tag));
        let known = self.known(tag);
        assert!(
            own == Some(chain) || is_loose,
            "the session is not its project's: {known:?}"
        );
        if let Some(passed) = &mut known.passed {
            passed.insert(hop);
        }
    }

    /// The message has passed all components of its session's project that never broke.
    pub(super) fn has_passed_all(&self, known: &MessageRecord) {
        let session = known.session.and_then(|own| own.checked_sub(FIRST));
        let chain = session.and_then(|own| self.sessions[own].chain);
        let (Some(chain), Some(passed)) = (chain, &known.passed) else {
            return;
        };
        if known.unseen || known.may_be_lost || self.is_loose(known.session) {
            return;
        }
        for (index, hop) in self.hops.iter().enumerate() {
            let sees = hop.chain == Some(chain) && !hop.is_native && hop.broke == 0;
            assert!(
                !sees || passed.contains(&index),
                "it has not passed {index}: {known:?}"
            );
        }
    }

    /// The session of a proxy's message: one of its project's, if the proxy is a project's.
    pub fn speaks_in(&self, hop: usize, choice: usize) -> Option<usize> {
        let own = || {
            let all = self.sessions.iter().enumerate();
            let mut own = all.filter(|(_, session)| session.chain == self.hops[hop].chain);
            own.nth(choice / 2).map(|(at, _)| FIRST + at)
        };
        match (self.hops[hop].chain, choice) {
            (Some(_), 1..) => own(),
            _ => self.earlier().get(choice).copied().flatten(),
        }
    }

    /// A message of a project's proxy is dropped if its session is not known, or no longer known.
    pub fn may_be_refused(&mut self, hop: usize, tag: Tag) {
        if self.hops[hop].chain.is_some() {
            self.known(tag).may_be_lost = true;
        }
    }
}
