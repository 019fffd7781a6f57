//! Which stream a message goes to: that of its session, or that of the connection (RFD
//! streamable-http-websocket-transport).
//!
//! An answer goes where its request belongs, and so does the cancellation of a request. A session is known once the
//! agent has named it, or the client requests to load it. Messages of a session that the client has not set up, such as
//! a subagent's, go to the connection's stream: the client would open no other one for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_acp::{CANCEL_REQUEST, Life, PERMISSION, TurnState, Turns};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};
use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::access::LogContext;
use super::account::{Account, SessionPermit};
use super::mailbox::{Mailbox, NoStream, Totals};
use super::metrics::Refusal;
use super::permissions::Permissions;
use super::turn::Turn;
use crate::wire::failure;

/// How many sessions of a connection may have a stream of their own; messages of others go to the connection's.
const SESSIONS: usize = 4096;

/// How many of these sessions only the client may have named: it opens their streams before it requests the sessions.
const UNKNOWN: usize = 16;

/// How many bytes of sent messages are kept, of all streams.
const KEPT: usize = 4 << 20;

/// How many unsent bytes a client may have. At this limit the client counts as not reading: nothing more is taken from
/// the chain, and no error answers are queued.
pub const WAITING: usize = 1 << 20;

/// How many requests of a client may be open, and for how many requests of the agent the session is remembered.
const REQUESTS: usize = 4096;

/// The result of a message of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// The message is passed to the chain.
    Passed,
    /// The message was answered here.
    Answered,
    /// Too many requests are open already.
    TooMany,
    /// It is not the user's turn, and may be after this time.
    Busy(Duration),
    /// The connection has ended.
    Ended,
}

/// What an answer of the agent has ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub sessions: Vec<Arc<str>>,
    /// Prompts, by the ids of their requests.
    pub prompts: Vec<Id>,
}

impl Ended {
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.prompts.is_empty()
    }
}

#[derive(Debug)]
struct OpenRequest {
    session: Option<Arc<str>>,
    /// What the request does, which decides what its answer means for sessions.
    life: Life,
    /// The permit of the session that the request opens.
    permit: Option<SessionPermit>,
    /// The turn, if the request is a prompt.
    turn: Option<Turn>,
}

#[derive(Debug)]
struct Session {
    mailbox: Mailbox,
    is_known: bool,
    /// Whether the agent sent messages in the session while a session was being set up, perhaps another one.
    is_early: bool,
    /// Whether its messages go to the connection's stream: it is being loaded by a client that does not read the
    /// session's stream yet.
    is_elsewhere: bool,
}

/// The state of a connection, as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    pub sessions: usize,
    pub turns: usize,
    /// The bytes of unsent messages.
    pub waiting: usize,
    /// The bytes of sent messages that are kept.
    pub kept: usize,
}

/// All streams of a connection.
#[derive(Debug)]
pub struct Routes {
    connection: Mailbox,
    sessions: HashMap<Arc<str>, Session>,
    requests: HashMap<Id, OpenRequest>,
    /// The turns that go on after their prompts are answered.
    turns: Turns<Arc<str>, Turn>,
    /// The open sessions.
    open: HashMap<Arc<str>, SessionPermit>,
    account: Arc<Account>,
    log: Arc<LogContext>,
    /// The sessions of the agent's open requests.
    agent_requests: HashMap<Id, Arc<str>>,
    /// The permissions requested from the client.
    permissions: Permissions,
    /// The request whose answer is returned directly, by its id, and the channel for the answer.
    first: Option<(Id, oneshot::Sender<Message>)>,
    /// What was ended since that was last taken.
    ended: Ended,
    /// Whether everything goes to the connection's stream.
    is_one: bool,
    totals: Totals,
}

impl Routes {
    /// Streams of events, one for each session; or a single one.
    pub fn new(is_one: bool, account: Arc<Account>, log: Arc<LogContext>) -> Self {
        let totals = Totals::default();
        Self {
            connection: Mailbox::new(!is_one, &totals),
            sessions: HashMap::new(),
            requests: HashMap::new(),
            turns: Turns::new(),
            open: HashMap::new(),
            agent_requests: HashMap::new(),
            permissions: Permissions::new(&log),
            account,
            log,
            first: None,
            ended: Ended::default(),
            is_one,
            totals,
        }
    }

    /// Returns the answer to this request directly.
    pub fn answer_at_once(&mut self, id: Id) -> oneshot::Receiver<Message> {
        let (answer, answered) = oneshot::channel();
        self.first = Some((id, answer));
        answered
    }

    /// Notes a message of the client.
    pub fn note(&mut self, message: &Message) -> DeliveryResult {
        if message.kind().is_response() {
            if let Some(id) = message.id() {
                self.agent_requests.remove(&id);
            }
            self.permissions.answer(message);
            return DeliveryResult::Passed;
        }
        let life = Life::of(message.method());
        let session = message.session().cloned();
        let id = message.id();
        if let Some(id) = &id
            && self.requests.contains_key(id)
        {
            // An error from the chain would be taken for the answer to the open request.
            let error = Error::new(
                code::INVALID_REQUEST,
                format!(
                    "acp-chain: the id {} belongs to a request that is still open",
                    id.as_str()
                ),
            );
            return self.refuse_or_drop(id, &error);
        }
        if id.is_some() && self.requests.len() >= REQUESTS {
            return DeliveryResult::TooMany;
        }
        let is_open = |name: &Arc<str>| self.open.contains_key(name);
        let opens = match life {
            Life::Loads => !session.as_ref().is_some_and(is_open),
            _ => life.names_session(),
        };
        let mut permit = None;
        if let Some(id) = &id
            && opens
        {
            permit = self.account.permit();
            if permit.is_none() {
                self.log.figures.refused(Refusal::Sessions);
                let error = Error::new(
                    code::INVALID_REQUEST,
                    "acp-chain: your limit of open sessions is reached; close one, or end a connection",
                );
                return self.refuse_or_drop(id, &error);
            }
        }
        let mut turn = None;
        if id.is_some() && life == Life::Prompts {
            match self.begin_turn(session.clone()) {
                Ok(begun) => turn = Some(begun),
                Err(again) => return DeliveryResult::Busy(again),
            }
        }
        if life == Life::Loads
            && !self.is_one
            && let Some(name) = &session
        {
            // A client that reads its stream gets the replayed messages there; any other must learn of the session
            // first.
            let loaded = self.session(name, true);
            if let Some(loaded) = loaded {
                loaded.is_elsewhere = !loaded.mailbox.is_read();
            }
        }
        if let Some(id) = id {
            let request = OpenRequest {
                session,
                life,
                permit,
                turn,
            };
            self.requests.insert(id, request);
        }
        DeliveryResult::Passed
    }

    /// A turn that begins now, unless it is that of others.
    fn begin_turn(&self, session: Option<Arc<str>>) -> Result<Turn, Duration> {
        let begun = self
            .account
            .turns
            .begin(&self.log.user.name, Instant::now());
        begun.map(|permit| Turn::new(session, Some(permit), self.log.clone()))
    }

    /// Answers a request with an error, unless the client has too many unsent bytes already.
    fn refuse_or_drop(&mut self, id: &Id, error: &Error) -> DeliveryResult {
        if self.waiting() >= WAITING {
            return DeliveryResult::TooMany;
        }
        self.refuse(id, error);
        DeliveryResult::Answered
    }

    /// Answers a request with an error, in place of the chain.
    pub fn refuse(&mut self, id: &Id, error: &Error) {
        let line = failure(id, error);
        self.log.figures.sent(line.len());
        self.connection.push(line);
    }

    /// Whether no request of the client is open, and no turn runs.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.turns.is_empty() && self.first.is_none()
    }

    /// Routes a message of the agent. Returns a session that it has opened.
    pub fn push(&mut self, line: Bytes) -> Option<Arc<str>> {
        self.log.figures.sent(line.len());
        let Ok(message) = Message::parse(line.clone()) else {
            self.connection.push(line);
            return None;
        };
        if message.kind().is_response() {
            return self.push_answer(line, &message);
        }
        if **message.method() == *PERMISSION {
            self.permissions.request(&message);
            let of_it = |request: &&mut OpenRequest| request.session.as_ref() == message.session();
            let requests = self.requests.values_mut().filter(of_it);
            let turns = requests.filter_map(|request| request.turn.as_mut());
            let running = message
                .session()
                .and_then(|session| self.turns.get_mut(session));
            for turn in turns.chain(running) {
                turn.permissions += 1;
            }
        }
        if self.turns.acknowledges() {
            self.note_state(&message);
        }
        match self.session_of(&message).filter(|_| !self.is_one) {
            Some(name) => self.push_to(&name, line),
            None => self.connection.push(line),
        }
        None
    }

    /// The request that a line answers, and the session that the answer opens, if it does.
    pub fn opened_by(&self, line: &Bytes) -> Option<(Id, Arc<str>)> {
        if !self.is_opening() {
            return None;
        }
        let answer = Message::parse(line.clone()).ok()?;
        let id = answer.id().filter(|_| answer.kind() == Kind::Result)?;
        let request = self.requests.get(&id)?;
        let session = answer.session().cloned();
        let session = session.filter(|_| request.life.names_session())?;
        Some((id, session))
    }

    /// What was ended since the last call.
    pub fn take_ended(&mut self) -> Ended {
        std::mem::take(&mut self.ended)
    }

    /// Notes whether a turn runs in a session (RFD v2/prompt, `state_update`).
    fn note_state(&mut self, message: &Message) {
        if message.update() != Some("state_update") {
            return;
        }
        let update = member(message.body(), "update");
        let (Some(update), Some(session)) = (update, message.session()) else {
            return;
        };
        if message.is_idle() {
            if let Some(turn) = self.turns.end(session) {
                turn.stop(update);
            }
        } else if self.turns.len() < SESSIONS {
            let log = &self.log;
            self.turns.work(session.clone(), || {
                Some(Turn::new(Some(session.clone()), None, log.clone()))
            });
        }
    }

    /// The session on whose stream a message of the agent belongs.
    fn session_of(&mut self, message: &Message) -> Option<Arc<str>> {
        if &**message.method() == CANCEL_REQUEST {
            let id = member(message.body(), "requestId").and_then(Id::parse)?;
            return self.agent_requests.get(&id).cloned();
        }
        let name = message.session()?;
        if !self.sessions.contains_key(name) {
            if !self.is_opening() {
                return None;
            }
            self.session(name, true)?.is_early = true;
        }
        let name = name.clone();
        if let Some(id) = message.id()
            && self.agent_requests.len() < REQUESTS
        {
            self.agent_requests.insert(id, name.clone());
        }
        Some(name)
    }

    /// Whether a session is being set up whose name is not known yet.
    fn is_opening(&self) -> bool {
        let mut requests = self.requests.values();
        requests.any(|request| request.life.names_session())
    }

    /// Called when no session is being set up any more: drops the streams of sessions that no answer has named and that
    /// have no reader. Their messages go to the connection's stream.
    fn forget_early(&mut self) {
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

    fn push_to(&mut self, name: &Arc<str>, line: Bytes) {
        match self.session(name, true) {
            Some(session) if !session.is_elsewhere => session.mailbox.push(line),
            _ => self.connection.push(line),
        }
    }

    fn push_answer(&mut self, line: Bytes, message: &Message) -> Option<Arc<str>> {
        let id = message.id().unwrap_or_else(Id::null);
        let mut request = self.requests.remove(&id);
        if let Some(request) = &mut request {
            if request.life == Life::Prompts {
                self.ended.prompts.push(id.clone());
            }
            self.settle(request, message);
        }
        if let Some((_, waits)) = self.first.take_if(|(first, _)| *first == id) {
            let _ = waits.send(message.clone());
            return None;
        }
        let (session, effect) = match request {
            Some(request) => (request.session, request.life),
            None => (None, Life::Serves),
        };
        let opened = message.session().cloned();
        let opened = opened.filter(|_| effect.names_session());
        let session = session.filter(|_| !self.is_one && !effect.names_session());
        match session.filter(|name| self.sessions.contains_key(name)) {
            Some(name) => {
                self.push_to(&name, line);
                self.answered(&name, effect);
            }
            None => {
                // The stream exists before the client receives the name of the session.
                if let Some(name) = opened.as_ref().filter(|_| !self.is_one)
                    && let Some(session) = self.session(name, true)
                {
                    session.is_early = false;
                }
                self.connection.push(line);
            }
        }
        if effect.names_session() && !self.is_opening() {
            self.forget_early();
        }
        opened
    }

    /// Ends the turn, or opens or closes the session, of a request that is answered.
    fn settle(&mut self, request: &mut OpenRequest, answer: &Message) {
        let is_error = answer.kind() == Kind::Error;
        let has_room = |session: &Arc<str>| self.turns.has(session) || self.turns.len() < SESSIONS;
        let session = request.session.clone().filter(has_room);
        match (request.turn.take(), session) {
            (Some(turn), Some(session)) => {
                match self.turns.answer(session, turn, answer.says_end()) {
                    TurnState::Over(turn) => turn.end(answer),
                    TurnState::Joins(turn) => turn.forget(),
                    TurnState::Runs => {}
                }
            }
            (Some(turn), None) if self.turns.acknowledges() && !answer.says_end() => turn.forget(),
            (Some(turn), None) => turn.end(answer),
            (None, _) => {}
        }
        // A session that is unknown to the agent has ended.
        let is_unknown = request.life == Life::Ends && answer.is_error(code::RESOURCE_NOT_FOUND);
        let is_error = is_error && !is_unknown;
        if is_error
            && request.life == Life::Loads
            && let Some(name) = request.session.clone()
            && !self.open.contains_key(&name)
        {
            // It is served no more than before.
            self.ended.sessions.push(name);
        }
        let name = match request.life {
            life if life.names_session() => answer.session().cloned(),
            Life::Loads | Life::Ends => request.session.clone(),
            Life::Connects => {
                let version = member(answer.body(), "protocolVersion");
                let version = version.and_then(|version| version.parse().ok());
                self.turns.agree(version.unwrap_or(1));
                None
            }
            _ => None,
        };
        let Some(name) = name.filter(|_| !is_error) else {
            return;
        };
        match request.permit.take() {
            Some(permit) if self.open.len() < SESSIONS => drop(self.open.insert(name, permit)),
            None if request.life == Life::Ends => {
                self.ended.sessions.push(name.clone());
                self.open.remove(&name);
                self.turns.end(&name);
                // A prompt that is answered after its session has ended begins no turn.
                let requests = self.requests.values_mut();
                let of_it = requests.filter(|request| request.session.as_ref() == Some(&name));
                of_it.for_each(|request| drop(request.turn.take()));
            }
            _ => {}
        }
    }

    /// Drops open requests, turns and sessions: the chain has ended.
    pub fn end(&mut self) {
        self.requests.clear();
        self.turns.clear();
        self.open.clear();
        self.agent_requests.clear();
        self.permissions.clear();
        self.first = None;
        self.wake();
    }

    /// The numbers of open sessions and running turns, and the bytes of all streams.
    pub fn gauges(&mut self) -> Gauges {
        let turns = self.requests.values().filter(|one| one.turn.is_some());
        let turns = turns.count();
        Gauges {
            sessions: self.open.len(),
            turns: turns + self.turns.len(),
            waiting: self.waiting(),
            kept: self.mailboxes().map(|mailbox| mailbox.kept()).sum(),
        }
    }

    fn answered(&mut self, name: &Arc<str>, life: Life) {
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

    /// The state of a session; `None` if there are too many.
    fn session(&mut self, name: &Arc<str>, is_known: bool) -> Option<&mut Session> {
        if !self.sessions.contains_key(name) {
            if self.sessions.len() >= SESSIONS {
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
                if !self.sessions.contains_key(name) {
                    let unknown = self.sessions.values().filter(|session| !session.is_known);
                    if self.is_one || unknown.count() >= UNKNOWN {
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
        if let Some(name) = session
            && !is_read
            && self
                .sessions
                .get(name)
                .is_some_and(|session| !session.is_known)
        {
            self.sessions.remove(name);
        }
    }

    fn mailboxes(&mut self) -> impl Iterator<Item = &mut Mailbox> {
        let sessions = self
            .sessions
            .values_mut()
            .map(|session| &mut session.mailbox);
        sessions.chain([&mut self.connection])
    }

    /// The bytes of unsent messages, of all streams.
    pub fn waiting(&self) -> usize {
        self.totals.waiting.get()
    }

    /// Enforces the limit of kept sent messages: the largest stream loses some first.
    pub fn bound(&mut self) {
        while self.totals.kept.get() > KEPT
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
        if self.first.is_some() {
            // A request waits for the first answer.
            return None;
        }
        self.mailboxes()
            .map(|mailbox| mailbox.deserted(now))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes() -> Routes {
        with_permits(100)
    }

    fn with_permits(permits: usize) -> Routes {
        let account = Arc::new(crate::server::account::tests::account(permits));
        let log = LogContext {
            access: None,
            figures: Arc::default(),
            connection: None,
            user: Arc::default(),
            way: super::super::metrics::TransportKind::Http,
            peer: ([127, 0, 0, 1], 9).into(),
        };
        Routes::new(false, account, Arc::new(log))
    }

    fn message(text: &str) -> Message {
        Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn request(routes: &mut Routes, id: u64, method: &str, session: Option<&str>) {
        let params = match session {
            Some(session) => format!(r#"{{"sessionId":"{session}"}}"#),
            None => "{}".to_owned(),
        };
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        assert_eq!(routes.note(&message(&text)), DeliveryResult::Passed);
    }

    fn answer(routes: &mut Routes, id: u64, result: &str) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        routes.push(text.into());
    }

    fn update(routes: &mut Routes, session: &str) {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}"}}}}"#
        );
        routes.push(text.into());
    }

    fn take_all(routes: &mut Routes, session: Option<&str>) -> usize {
        let mailbox = routes.mailbox(session).expect("it is known");
        std::iter::from_fn(|| mailbox.take()).count()
    }

    #[test]
    fn messages_of_a_session_go_to_its_stream_and_others_to_the_connections() {
        let mut routes = routes();
        routes.open(None, None).unwrap();
        request(&mut routes, 1, "session/new", None);
        answer(&mut routes, 1, r#"{"sessionId":"a"}"#);
        assert_eq!(
            (
                take_all(&mut routes, None),
                take_all(&mut routes, Some("a"))
            ),
            (1, 0)
        );
        request(&mut routes, 2, "session/prompt", Some("a"));
        assert!(!routes.is_idle());
        update(&mut routes, "a");
        answer(&mut routes, 2, "{}");
        routes.push(r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}"#.into());
        assert_eq!(
            (
                take_all(&mut routes, None),
                take_all(&mut routes, Some("a"))
            ),
            (1, 2)
        );
        assert!(routes.is_idle());
    }

    #[test]
    fn a_session_that_was_not_set_up_has_no_stream_until_one_is_opened() {
        let mut routes = routes();
        routes.open(None, None).unwrap();
        update(&mut routes, "child");
        assert_eq!(take_all(&mut routes, None), 1);
        assert!(routes.mailbox(Some("child")).is_none());
        routes.open(Some("child"), None).unwrap();
        update(&mut routes, "child");
        assert_eq!(take_all(&mut routes, Some("child")), 1);
    }

    #[test]
    fn early_messages_of_a_session_that_no_answer_names_go_to_the_connections_stream() {
        let mut routes = routes();
        routes.open(None, None).unwrap();
        request(&mut routes, 1, "session/new", None);
        update(&mut routes, "child");
        update(&mut routes, "a");
        answer(&mut routes, 1, r#"{"sessionId":"a"}"#);
        assert_eq!(take_all(&mut routes, None), 2);
        assert!(routes.mailbox(Some("child")).is_none());
        request(&mut routes, 2, "session/prompt", Some("child"));
        answer(&mut routes, 2, "{}");
        update(&mut routes, "child");
        assert_eq!(take_all(&mut routes, None), 2);
        assert_eq!(take_all(&mut routes, Some("a")), 1);
    }

    #[test]
    fn a_request_and_its_cancellation_go_to_one_stream() {
        let mut routes = routes();
        routes.open(Some("a"), None).unwrap();
        let request = |id: u64| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{"sessionId":"a"}}}}"#
            )
        };
        let cancel = |id: u64| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            )
        };
        routes.push(request(1).into());
        routes.push(request(2).into());
        routes.push(cancel(1).into());
        assert_eq!(take_all(&mut routes, Some("a")), 3);
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
        assert_eq!(routes.note(&message(answer)), DeliveryResult::Passed);
        routes.push(cancel(2).into());
        assert_eq!(take_all(&mut routes, None), 1);
    }

    #[test]
    fn a_session_is_loaded_on_its_stream_if_that_is_read_and_else_on_the_connections() {
        for is_read in [true, false] {
            let mut routes = routes();
            routes.open(None, None).unwrap();
            if is_read {
                routes.open(Some("a"), None).unwrap();
            }
            request(&mut routes, 1, "session/load", Some("a"));
            update(&mut routes, "a");
            if !is_read {
                // The client now reads the session's stream; the order is still kept.
                routes.open(Some("a"), None).unwrap();
            }
            update(&mut routes, "a");
            answer(&mut routes, 1, "{}");
            update(&mut routes, "a");
            let expected = if is_read { (0, 4) } else { (3, 1) };
            let found = (
                take_all(&mut routes, None),
                take_all(&mut routes, Some("a")),
            );
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn streams_that_only_the_client_names_are_bounded() {
        let mut routes = routes();
        let readers: Vec<_> = (0..UNKNOWN)
            .map(|name| routes.open(Some(&name.to_string()), None).unwrap())
            .collect();
        assert_eq!(routes.open(Some("more"), None), Err(NoStream::Unknown));
        routes.leave(Some("0"), readers[0]);
        routes.open(Some("more"), None).unwrap();
        for id in 0..REQUESTS as u64 {
            request(&mut routes, id, "session/list", None);
        }
        let one_more = r#"{"jsonrpc":"2.0","id":"more","method":"session/list"}"#;
        assert_eq!(routes.note(&message(one_more)), DeliveryResult::TooMany);
    }

    #[test]
    fn totals_count_the_bytes_of_all_streams() {
        let mut routes = routes();
        let reader = routes.open(Some("a"), None).unwrap();
        request(&mut routes, 1, "session/new", None);
        update(&mut routes, "a");
        update(&mut routes, "b");
        let each: usize = routes
            .mailboxes()
            .map(|mailbox| mailbox.waiting())
            .max()
            .unwrap();
        assert_eq!(routes.waiting(), 2 * each);
        assert!(!routes.is_flushed());
        assert_eq!(take_all(&mut routes, Some("a")), 1);
        assert_eq!((routes.waiting(), routes.totals.kept.get()), (each, each));
        // The other stream has no reader.
        assert!(routes.is_flushed());
        routes.sessions.remove("b");
        routes.mailbox(Some("a")).unwrap().leave(reader);
        routes.trim(Instant::now() + Duration::from_secs(1), Duration::ZERO);
        assert_eq!((routes.waiting(), routes.totals.kept.get()), (0, 0));
    }

    #[test]
    fn an_open_request_is_not_forgotten_for_another_with_its_id() {
        let mut routes = with_permits(1);
        routes.open(None, None).unwrap();
        request(&mut routes, 1, "session/new", None);
        let again = message(r#"{"jsonrpc":"2.0","id":1,"method":"session/list"}"#);
        assert_eq!(routes.note(&again), DeliveryResult::Answered);
        assert_eq!(take_all(&mut routes, None), 1);
        let opened = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}"#;
        assert_eq!(routes.push(opened.into()).as_deref(), Some("a"));
        assert_eq!(routes.gauges().sessions, 1);
    }

    #[test]
    fn the_stream_of_a_closed_session_waits_for_a_reader_only_for_a_while() {
        let mut routes = routes();
        let reader = routes.open(Some("a"), None).unwrap();
        update(&mut routes, "a");
        request(&mut routes, 1, "session/close", Some("a"));
        routes.leave(Some("a"), reader);
        answer(&mut routes, 1, "{}");
        let soon = Instant::now();
        routes.trim(soon, Duration::from_secs(1));
        assert_ne!(routes.waiting(), 0);
        routes.trim(soon + Duration::from_secs(2), Duration::from_secs(1));
        assert_eq!(routes.waiting(), 0);
        assert!(routes.mailbox(Some("a")).is_none());
    }

    #[test]
    fn the_first_answer_is_returned_directly() {
        let mut routes = routes();
        request(&mut routes, 1, "initialize", None);
        let mut answered = routes.answer_at_once(Id::from(1));
        routes.push(r#"{"jsonrpc":"2.0","method":"early"}"#.into());
        answer(&mut routes, 1, "{}");
        assert_eq!(answered.try_recv().unwrap().body(), "{}");
        assert_eq!(take_all(&mut routes, None), 1);
    }

    #[test]
    fn sessions_beyond_the_limit_are_rejected_and_closed_ones_make_room() {
        let mut routes = with_permits(2);
        routes.open(None, None).unwrap();
        request(&mut routes, 1, "session/new", None);
        answer(&mut routes, 1, r#"{"sessionId":"a"}"#);
        // A failed request has opened nothing.
        request(&mut routes, 2, "session/load", Some("b"));
        routes.push(r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}"#.into());
        request(&mut routes, 3, "session/load", Some("b"));
        let one_more = r#"{"jsonrpc":"2.0","id":4,"method":"session/new","params":{}}"#;
        assert_eq!(routes.note(&message(one_more)), DeliveryResult::Answered);
        answer(&mut routes, 3, "{}");
        assert_eq!(routes.note(&message(one_more)), DeliveryResult::Answered);
        // An open session can be loaded again.
        request(&mut routes, 5, "session/load", Some("a"));
        answer(&mut routes, 5, "{}");
        assert_eq!(routes.gauges().sessions, 2);
        request(&mut routes, 6, "session/close", Some("b"));
        answer(&mut routes, 6, "{}");
        assert_eq!(routes.note(&message(one_more)), DeliveryResult::Passed);
        assert_eq!(routes.gauges().sessions, 1);
        routes.end();
        assert!(routes.account.permit().is_some() && routes.account.permit().is_some());
    }

    #[test]
    fn a_turn_that_ends_makes_room_for_the_next() {
        let account = Arc::new(crate::server::account::tests::with_turns(1));
        let log = with_permits(1).log;
        let mut routes = Routes::new(false, account, log);
        routes.open(None, None).unwrap();
        request(&mut routes, 1, "session/prompt", Some("a"));
        let prompt =
            r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"a"}}"#;
        let refused = routes.note(&message(prompt));
        assert!(matches!(refused, DeliveryResult::Busy(_)), "{refused:?}");
        answer(&mut routes, 1, "{}");
        assert_eq!(routes.note(&message(prompt)), DeliveryResult::Passed);
    }

    #[test]
    fn what_has_ended_is_told_once() {
        let mut routes = routes();
        request(&mut routes, 1, "session/new", None);
        let opened = Bytes::from(r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}"#);
        assert_eq!(routes.opened_by(&opened), Some((Id::from(1), "a".into())));
        routes.push(opened.clone());
        assert_eq!(routes.opened_by(&opened), None);
        request(&mut routes, 2, "session/prompt", Some("a"));
        answer(&mut routes, 2, "{}");
        request(&mut routes, 3, "session/load", Some("b"));
        routes.push(r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}"#.into());
        request(&mut routes, 4, "session/close", Some("a"));
        answer(&mut routes, 4, "{}");
        let ended = Ended {
            sessions: vec!["b".into(), "a".into()],
            prompts: vec![Id::from(2)],
        };
        assert_eq!(routes.take_ended(), ended);
        assert!(routes.take_ended().is_empty());
    }

    #[test]
    fn in_version_2_a_turn_runs_until_the_agent_is_idle() {
        let mut routes = routes();
        request(&mut routes, 1, "initialize", None);
        answer(&mut routes, 1, r#"{"protocolVersion":2}"#);
        let send_state = |routes: &mut Routes, state: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"a","update":{{"sessionUpdate":"state_update",{state}}}}}}}"#
            );
            routes.push(text.into());
        };
        request(&mut routes, 2, "session/prompt", Some("a"));
        answer(&mut routes, 2, r#"{"messageId":"m"}"#);
        assert!(!routes.is_idle());
        for state in ["running", "requires_action"] {
            send_state(&mut routes, &format!(r#""state":"{state}""#));
            assert!(!routes.is_idle());
            assert_eq!(routes.gauges().turns, 1);
        }
        send_state(&mut routes, r#""state":"idle","stopReason":"end_turn""#);
        assert!(routes.is_idle());
        let mut page = super::super::metrics::Page::default();
        routes.log.figures.write(&mut page);
        let ended = page.into_text();
        let line = "acp_chain_turns_total{end=\"end_turn\"} 1\n";
        assert!(ended.contains(line), "{ended}");
    }

    #[test]
    fn each_turn_is_counted_once_however_it_ends() {
        let mut routes = routes();
        for (id, reason) in [(1, "end_turn"), (2, "cancelled"), (3, "x")] {
            request(&mut routes, id, "session/prompt", Some("a"));
            assert_eq!(routes.gauges().turns, 1);
            answer(&mut routes, id, &format!(r#"{{"stopReason":"{reason}"}}"#));
        }
        request(&mut routes, 4, "session/prompt", Some("a"));
        routes.push(r#"{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"no"}}"#.into());
        request(&mut routes, 5, "session/prompt", Some("a"));
        routes.end();
        let mut page = super::super::metrics::Page::default();
        routes.log.figures.write(&mut page);
        let text = page.into_text();
        for end in ["end_turn", "cancelled", "other", "error", "lost"] {
            let line = format!("acp_chain_turns_total{{end=\"{end}\"}} 1\n");
            assert!(text.contains(&line), "{line}{text}");
        }
    }
}
