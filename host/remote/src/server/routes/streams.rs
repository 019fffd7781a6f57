//! All streams of a connection: its own, and those of its sessions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_acp::Life;
use bytes::Bytes;
use tokio::time::Instant;

use super::SESSIONS;
use crate::server::mailbox::{Mailbox, NoStream, Totals};

/// How many sessions with streams only the client may have named: it opens their streams before it requests the
/// sessions.
pub const UNKNOWN: usize = 16;

/// How many bytes of sent messages are kept, of all streams.
const KEPT: usize = 4 << 20;

/// How many unsent bytes a client may have. At this limit the client counts as not reading: nothing more is taken from
/// the chain, and no error answers are queued.
pub const WAITING: usize = 1 << 20;

/// The streams.
#[derive(Debug)]
pub struct Streams {
    connection: Mailbox,
    pub(super) sessions: HashMap<Arc<str>, Session>,
    /// Whether everything goes to the connection's stream.
    is_one: bool,
    pub(super) totals: Totals,
}

#[derive(Debug)]
pub(super) struct Session {
    mailbox: Mailbox,
    is_known: bool,
    /// Whether the agent sent messages in the session while a session was being set up, perhaps another one.
    is_early: bool,
    /// Whether its messages go to the connection's stream: it is being loaded by a client that does not read the
    /// session's stream yet.
    is_elsewhere: bool,
}

impl Streams {
    pub fn new(is_one: bool) -> Self {
        let totals = Totals::default();
        Self {
            connection: Mailbox::new(!is_one, &totals),
            sessions: HashMap::new(),
            is_one,
            totals,
        }
    }

    /// Whether a session has a stream.
    pub fn has(&self, name: &str) -> bool {
        self.sessions.contains_key(name)
    }

    /// Puts a message on the stream of a session, or on the connection's.
    pub fn push(&mut self, session: Option<&Arc<str>>, line: Bytes) {
        match session.and_then(|name| self.session(name, true)) {
            Some(session) if !session.is_elsewhere => session.mailbox.push(line),
            _ => self.connection.push(line),
        }
    }

    /// A session is about to be loaded. A client that reads its stream gets the replayed messages there; any other must
    /// learn of the session first.
    pub fn load(&mut self, name: &Arc<str>) {
        if let Some(session) = self.session(name, true) {
            session.is_elsewhere = !session.mailbox.is_read();
        }
    }

    /// The agent has named a session that is set up; or it sends messages in one early. Returns whether there is a
    /// stream now.
    pub fn begin(&mut self, name: &Arc<str>, is_early: bool) -> bool {
        let session = self.session(name, true);
        session.map(|session| session.is_early = is_early).is_some()
    }

    /// A request of a session was answered.
    pub fn answer(&mut self, name: &str, life: Life) {
        let Some(session) = self.sessions.get_mut(name) else {
            return;
        };
        match life {
            Life::Loads => session.is_elsewhere = false,
            // The stream ends with its reader; a later session of that name is a new one.
            Life::Ends => session.is_known = false,
            _ => {}
        }
    }

    /// Called when no session is being set up any more: drops the streams of sessions that no answer has named and that
    /// have no reader. Their messages go to the connection's stream.
    pub fn forget_early(&mut self) {
        let connection = &mut self.connection;
        self.sessions.retain(|_, session| {
            let stays = !session.is_early || session.mailbox.is_read();
            if !stays {
                while let Some(line) = session.mailbox.take() {
                    connection.push(line.text);
                }
            }
            session.is_early = false;
            stays
        });
    }

    /// The state of a session; `None` if there are too many, or it has no stream of its own.
    fn session(&mut self, name: &Arc<str>, is_known: bool) -> Option<&mut Session> {
        if !self.sessions.contains_key(name) {
            if self.is_one || self.sessions.len() >= SESSIONS {
                return None;
            }
            let session = Session {
                mailbox: Mailbox::new(true, &self.totals),
                is_known,
                is_early: false,
                is_elsewhere: false,
            };
            self.sessions.insert(name.clone(), session);
        }
        let session = self.sessions.get_mut(name)?;
        session.is_known |= is_known;
        Some(session)
    }

    /// The stream of a session, or the connection's.
    pub fn mailbox(&mut self, session: Option<&str>) -> Option<&mut Mailbox> {
        match session {
            None => Some(&mut self.connection),
            Some(name) => Some(&mut self.sessions.get_mut(name)?.mailbox),
        }
    }

    /// Starts to read a stream.
    pub fn open(&mut self, session: Option<&str>, last: Option<u64>) -> Result<u64, NoStream> {
        let mailbox = match session {
            None => &mut self.connection,
            Some(name) => {
                if !self.has(name) {
                    let unknown = self.sessions.values().filter(|session| !session.is_known);
                    if unknown.count() >= UNKNOWN {
                        return Err(NoStream::Unknown);
                    }
                }
                let session = self.session(&name.into(), false);
                &mut session.ok_or(NoStream::Unknown)?.mailbox
            }
        };
        mailbox.open(last)
    }

    /// Stops reading a stream. The stream of a session that only the client has named is dropped.
    pub fn leave(&mut self, session: Option<&str>, reader: u64) {
        let Some(mailbox) = self.mailbox(session) else {
            return;
        };
        mailbox.leave(reader);
        let is_read = mailbox.is_read();
        if let Some(name) = session {
            let is_of_client = |one: &Session| !is_read && !one.is_known;
            if self.sessions.get(name).is_some_and(is_of_client) {
                self.sessions.remove(name);
            }
        }
    }

    pub(super) fn mailboxes(&mut self) -> impl Iterator<Item = &mut Mailbox> {
        let sessions = self.sessions.values_mut();
        let sessions = sessions.map(|session| &mut session.mailbox);
        sessions.chain([&mut self.connection])
    }

    /// The bytes of unsent messages, of all streams.
    pub fn waiting(&self) -> usize {
        self.totals.waiting.get()
    }

    /// The bytes of sent messages that are kept, of all streams.
    pub fn kept(&self) -> usize {
        self.totals.kept.get()
    }

    /// Enforces the limit of kept sent messages: the largest stream loses some first.
    pub fn bound(&mut self) {
        while self.kept() > KEPT
            && let Some(most) = self.mailboxes().max_by_key(|mailbox| mailbox.kept())
        {
            most.forget_all();
        }
    }

    /// Whether all streams with readers are flushed.
    pub fn is_flushed(&mut self) -> bool {
        let is_sent = |mailbox: &mut Mailbox| mailbox.waiting() == 0 || !mailbox.is_read();
        self.waiting() == 0 || self.mailboxes().all(is_sent)
    }

    /// Wakes the readers of all streams.
    pub fn wake(&mut self) {
        self.mailboxes().for_each(Mailbox::wake);
    }

    /// Drops messages that were sent longer ago than `age`, and the streams of closed sessions that have had no reader
    /// for as long.
    pub fn trim(&mut self, now: Instant, age: Duration) {
        self.sessions.retain(|_, session| {
            let deserted = session.mailbox.deserted(now);
            session.is_known || deserted.is_none_or(|deserted| deserted <= age)
        });
        self.mailboxes().for_each(|mailbox| mailbox.trim(now, age));
    }

    /// Whether any stream has a reader.
    pub fn is_read(&mut self) -> bool {
        self.mailboxes().any(|mailbox| mailbox.is_read())
    }

    /// For how long no stream has had a reader; `None` if one has.
    pub fn deserted(&mut self, now: Instant) -> Option<Duration> {
        let deserted = self.mailboxes().map(|mailbox| mailbox.deserted(now));
        deserted.collect::<Option<Vec<_>>>()?.into_iter().min()
    }
}
