//! Which stream a message goes to: that of its session, or that of the connection (RFD
//! streamable-http-websocket-transport).
//!
//! An answer goes where its request belongs, and so does the cancellation of a request. A session is known once the
//! agent has named it, or the client asks the agent to load it. Messages of a session that the client has not set up, such
//! as a subagent's, go to the connection's stream: nobody would open another for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_acp::{Answered, CANCEL_REQUEST, Life, PERMISSION, Turns};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};
use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::access::Whose;
use super::account::{Account, Seat};
use super::mailbox::{Closed, Mailbox, Totals};
use super::metrics::{Figures, Refusal};
use super::permissions::Permissions;
use super::turn::Turn;

/// How many sessions of a connection may have a stream of their own; messages of others go to the connection's.
const SESSIONS: usize = 4096;

/// How many of them only the client may have named: it opens their streams before it requests them.
const UNKNOWN: usize = 16;

/// How many bytes of sent messages are kept, of all streams.
const KEPT: usize = 4 << 20;

/// How many bytes may wait for a client. While as many do, it does not read: nothing more is taken from the chain, and
/// nothing is refused for it.
pub const WAITING: usize = 1 << 20;

/// How many requests of a client may be open, and of how many of the agent the session is remembered.
const QUESTIONS: usize = 4096;

/// Why a stream cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStream {
    /// Nobody has named that session, and there are too many unknown ones already.
    Unknown,
    /// It cannot be read.
    Closed(Closed),
}

/// The result of a message of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It is on its way.
    Yes,
    /// It was answered here.
    Answered,
    /// Too many requests are open already.
    TooMany,
}

#[derive(Debug)]
struct Question {
    session: Option<Arc<str>>,
    /// What it does, which decides what its answer means for sessions.
    life: Life,
    /// The seat of the session that it opens.
    seat: Option<Seat>,
    /// The turn, if it asks for one.
    turn: Option<Turn>,
}

#[derive(Debug)]
struct Session {
    mailbox: Mailbox,
    is_known: bool,
    /// Whether the agent sent messages in it while one is being set up, which may be another.
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
    questions: HashMap<Id, Question>,
    /// The turns that go on after their prompts are answered.
    turns: Turns<Arc<str>, Turn>,
    /// The open sessions.
    open: HashMap<Arc<str>, Seat>,
    account: Arc<Account>,
    figures: Arc<Figures>,
    whose: Arc<Whose>,
    /// The sessions of the agent's open requests.
    asked: HashMap<Id, Arc<str>>,
    /// The permissions requested from the client.
    permissions: Permissions,
    /// The waiter for an immediate answer, with the id of its request.
    first: Option<(Id, oneshot::Sender<Message>)>,
    /// Whether everything goes to the connection's stream.
    is_one: bool,
    totals: Totals,
}

impl Routes {
    /// Streams of events, one for each session; or a single one.
    pub fn new(
        is_one: bool,
        account: Arc<Account>,
        figures: Arc<Figures>,
        whose: Arc<Whose>,
    ) -> Self {
        let totals = Totals::default();
        Self {
            connection: Mailbox::new(!is_one, &totals),
            sessions: HashMap::new(),
            questions: HashMap::new(),
            turns: Turns::new(),
            open: HashMap::new(),
            asked: HashMap::new(),
            permissions: Permissions::new(&whose),
            account,
            figures,
            whose,
            first: None,
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

    /// A message of the client arrives.
    pub fn note(&mut self, message: &Message) -> Noted {
        if message.kind().is_response() {
            if let Some(id) = message.id() {
                self.asked.remove(&id);
            }
            self.permissions.answered(message);
            return Noted::Yes;
        }
        let life = Life::of(message.method());
        let session = message.session().cloned();
        let id = message.id();
        if let Some(id) = &id
            && self.questions.contains_key(id)
        {
            // By the chain, it would be taken for the answer to the open one.
            let error = Error::new(
                code::INVALID_REQUEST,
                format!(
                    "acp-chain: the id {} belongs to a request that is still open",
                    id.as_str()
                ),
            );
            return self.refuse_or_drop(id, &error);
        }
        if id.is_some() && self.questions.len() >= QUESTIONS {
            return Noted::TooMany;
        }
        let is_open = |name: &Arc<str>| self.open.contains_key(name);
        let opens = match life {
            Life::Loads => !session.as_ref().is_some_and(is_open),
            _ => life.names_session(),
        };
        let mut seat = None;
        if let Some(id) = &id
            && opens
        {
            seat = self.account.seat();
            if seat.is_none() {
                self.figures.refused(Refusal::Sessions);
                let error = Error::new(
                    code::INVALID_REQUEST,
                    "acp-chain: you have as many sessions open as one may have here; close one, or end a connection",
                );
                return self.refuse_or_drop(id, &error);
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
            let turn = (life == Life::Prompts).then(|| self.turn(session.clone()));
            let question = Question {
                session,
                life,
                seat,
                turn,
            };
            self.questions.insert(id, question);
        }
        Noted::Yes
    }

    /// A turn that begins now.
    fn turn(&self, session: Option<Arc<str>>) -> Turn {
        Turn::new(session, self.figures.clone(), self.whose.clone())
    }

    /// The same as [`Routes::refuse`], unless too much waits for the client already.
    fn refuse_or_drop(&mut self, id: &Id, error: &Error) -> Noted {
        if self.waiting() >= WAITING {
            return Noted::TooMany;
        }
        self.refuse(id, error);
        Noted::Answered
    }

    /// Answers a request with an error, in place of the chain.
    pub fn refuse(&mut self, id: &Id, error: &Error) {
        let (id, error) = (id.as_str(), error.to_json());
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        self.figures.said(line.len());
        self.connection.push(line.into());
    }

    /// Whether no request of the client is open, and no turn runs.
    pub fn is_idle(&self) -> bool {
        self.questions.is_empty() && self.turns.is_empty() && self.first.is_none()
    }

    /// Routes a message of the agent. Returns a session that it has opened.
    pub fn push(&mut self, line: Bytes) -> Option<Arc<str>> {
        self.figures.said(line.len());
        let Ok(message) = Message::parse(line.clone()) else {
            self.connection.push(line);
            return None;
        };
        if message.kind().is_response() {
            return self.push_answer(line, &message);
        }
        if **message.method() == *PERMISSION {
            self.permissions.asked(&message);
            let of_it = |question: &&mut Question| question.session.as_ref() == message.session();
            let questions = self.questions.values_mut().filter(of_it);
            let turns = questions.filter_map(|question| question.turn.as_mut());
            let running = message
                .session()
                .and_then(|session| self.turns.get_mut(session));
            for turn in turns.chain(running) {
                turn.asked += 1;
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
            let (figures, whose) = (&self.figures, &self.whose);
            self.turns.work(session.clone(), || {
                let session = Some(session.clone());
                Some(Turn::new(session, figures.clone(), whose.clone()))
            });
        }
    }

    /// The session on whose stream a message of the agent belongs.
    fn session_of(&mut self, message: &Message) -> Option<Arc<str>> {
        if &**message.method() == CANCEL_REQUEST {
            let id = member(message.body(), "requestId").and_then(Id::parse)?;
            return self.asked.get(&id).cloned();
        }
        let name = message.session()?;
        if !self.sessions.contains_key(name) {
            let session = match self.is_opening() {
                true => self.session(name, true)?,
                false => return None,
            };
            session.is_early = true;
        }
        let name = name.clone();
        if let Some(id) = message.id()
            && self.asked.len() < QUESTIONS
        {
            self.asked.insert(id, name.clone());
        }
        Some(name)
    }

    /// Whether a session is being set up whose name nobody knows yet.
    fn is_opening(&self) -> bool {
        let mut questions = self.questions.values();
        questions.any(|question| question.life.names_session())
    }

    /// Nothing is being set up any more: sessions that no answer has named, and whose streams nobody reads, have none.
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
        let mut question = self.questions.remove(&id);
        if let Some(question) = &mut question {
            self.settle(question, message);
        }
        if let Some((_, waits)) = self.first.take_if(|(first, _)| *first == id) {
            let _ = waits.send(message.clone());
            return None;
        }
        let (session, effect) = match question {
            Some(question) => (question.session, question.life),
            None => (None, Life::Serves),
        };
        let opened = named(message).filter(|_| effect.names_session());
        let session = session.filter(|_| !self.is_one && !effect.names_session());
        match session.filter(|name| self.sessions.contains_key(name)) {
            Some(name) => {
                self.push_to(&name, line);
                self.answered(&name, effect);
            }
            None => {
                // Before the client can know its name.
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

    /// A request for a turn or a session is answered.
    fn settle(&mut self, question: &mut Question, answer: &Message) {
        let is_error = answer.kind() == Kind::Error;
        let has_room = |session: &Arc<str>| self.turns.has(session) || self.turns.len() < SESSIONS;
        let session = question.session.clone().filter(has_room);
        match (question.turn.take(), session) {
            (Some(turn), Some(session)) => {
                match self.turns.answer(session, turn, answer.says_end()) {
                    Answered::Over(turn) => turn.end(answer),
                    Answered::Joins(turn) => turn.forget(),
                    Answered::Runs => {}
                }
            }
            (Some(turn), None) if self.turns.acknowledges() && !answer.says_end() => turn.forget(),
            (Some(turn), None) => turn.end(answer),
            (None, _) => {}
        }
        // One that the agent does not know is over.
        let is_gone = question.life == Life::Ends && answer.is_error(code::RESOURCE_NOT_FOUND);
        let is_error = is_error && !is_gone;
        let name = match question.life {
            life if life.names_session() => named(answer),
            Life::Loads | Life::Ends => question.session.clone(),
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
        match question.seat.take() {
            Some(seat) if self.open.len() < SESSIONS => drop(self.open.insert(name, seat)),
            None if question.life == Life::Ends => {
                self.open.remove(&name);
                self.turns.end(&name);
                // A prompt that is answered after its session has ended begins no turn.
                let questions = self.questions.values_mut();
                let of_it = questions.filter(|question| question.session.as_ref() == Some(&name));
                of_it.for_each(|question| drop(question.turn.take()));
            }
            _ => {}
        }
    }

    /// Nobody answers any more.
    pub fn end(&mut self) {
        self.questions.clear();
        self.turns.clear();
        self.open.clear();
        self.asked.clear();
        self.permissions.clear();
        self.first = None;
        self.wake();
    }

    /// The numbers of open sessions and running turns, and the bytes of all streams.
    pub fn gauges(&mut self) -> Gauges {
        let turns = self.questions.values().filter(|one| one.turn.is_some());
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
            // Its stream ends with its reader; a later session of that name is a new one.
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
        mailbox.open(last).map_err(NoStream::Closed)
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

    /// Wakes the reader.
    pub fn wake(&mut self) {
        self.mailboxes().for_each(Mailbox::wake);
    }

    /// Drops messages that were sent longer ago, and the streams of closed sessions that nobody has read for so long.
    pub fn trim(&mut self, now: Instant, age: Duration) {
        self.sessions.retain(|_, session| {
            let deserted = session.mailbox.deserted(now);
            session.is_known || deserted.is_none_or(|deserted| deserted <= age)
        });
        self.mailboxes().for_each(|mailbox| mailbox.trim(now, age));
    }

    /// Whether somebody reads any stream.
    pub fn is_read(&mut self) -> bool {
        self.mailboxes().any(|mailbox| mailbox.is_read())
    }

    /// For how long nobody has read any stream.
    pub fn deserted(&mut self, now: Instant) -> Option<Duration> {
        if self.first.is_some() {
            // Somebody waits for the first answer.
            return None;
        }
        self.mailboxes()
            .map(|mailbox| mailbox.deserted(now))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .min()
    }
}

/// The session that an answer names.
pub fn named(answer: &Message) -> Option<Arc<str>> {
    let name = member(answer.body(), "sessionId")?;
    serde_json::from_str::<String>(name).ok().map(Arc::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes() -> Routes {
        with_seats(100)
    }

    fn with_seats(seats: usize) -> Routes {
        let account = Arc::new(Account::with_seats(seats));
        let whose = Whose {
            access: None,
            connection: None,
            user: Arc::default(),
            way: super::super::metrics::Way::Http,
            peer: ([127, 0, 0, 1], 9).into(),
        };
        Routes::new(false, account, Arc::default(), Arc::new(whose))
    }

    fn message(text: &str) -> Message {
        Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn asks(routes: &mut Routes, id: u64, method: &str, session: Option<&str>) {
        let params = match session {
            Some(session) => format!(r#"{{"sessionId":"{session}"}}"#),
            None => "{}".to_owned(),
        };
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        assert_eq!(routes.note(&message(&text)), Noted::Yes);
    }

    fn answers(routes: &mut Routes, id: u64, result: &str) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        routes.push(text.into());
    }

    fn tells(routes: &mut Routes, session: &str) {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}"}}}}"#
        );
        routes.push(text.into());
    }

    fn got(routes: &mut Routes, session: Option<&str>) -> usize {
        let mailbox = routes.mailbox(session).expect("it is known");
        std::iter::from_fn(|| mailbox.take()).count()
    }

    #[test]
    fn what_is_of_a_session_goes_to_its_stream_and_all_else_to_the_connections() {
        let mut routes = routes();
        routes.open(None, None).unwrap();
        asks(&mut routes, 1, "session/new", None);
        answers(&mut routes, 1, r#"{"sessionId":"a"}"#);
        assert_eq!(
            (got(&mut routes, None), got(&mut routes, Some("a"))),
            (1, 0)
        );
        asks(&mut routes, 2, "session/prompt", Some("a"));
        assert!(!routes.is_idle());
        tells(&mut routes, "a");
        answers(&mut routes, 2, "{}");
        routes.push(r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}"#.into());
        assert_eq!(
            (got(&mut routes, None), got(&mut routes, Some("a"))),
            (1, 2)
        );
        assert!(routes.is_idle());
    }

    #[test]
    fn a_session_that_nobody_set_up_has_no_stream_and_holds_up_none() {
        let mut routes = routes();
        routes.open(None, None).unwrap();
        tells(&mut routes, "child");
        assert_eq!(got(&mut routes, None), 1);
        assert!(routes.mailbox(Some("child")).is_none());
        routes.open(Some("child"), None).unwrap();
        tells(&mut routes, "child");
        assert_eq!(got(&mut routes, Some("child")), 1);
    }

    #[test]
    fn what_came_early_in_a_session_that_no_answer_names_goes_to_the_connections_stream() {
        let mut routes = routes();
        routes.open(None, None).unwrap();
        asks(&mut routes, 1, "session/new", None);
        tells(&mut routes, "child");
        tells(&mut routes, "a");
        answers(&mut routes, 1, r#"{"sessionId":"a"}"#);
        assert_eq!(got(&mut routes, None), 2);
        assert!(routes.mailbox(Some("child")).is_none());
        asks(&mut routes, 2, "session/prompt", Some("child"));
        answers(&mut routes, 2, "{}");
        tells(&mut routes, "child");
        assert_eq!(got(&mut routes, None), 2);
        assert_eq!(got(&mut routes, Some("a")), 1);
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
        assert_eq!(got(&mut routes, Some("a")), 3);
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
        assert_eq!(routes.note(&message(answer)), Noted::Yes);
        routes.push(cancel(2).into());
        assert_eq!(got(&mut routes, None), 1);
    }

    #[test]
    fn a_session_is_loaded_on_its_stream_if_that_is_read_and_else_on_the_connections() {
        for is_read in [true, false] {
            let mut routes = routes();
            routes.open(None, None).unwrap();
            if is_read {
                routes.open(Some("a"), None).unwrap();
            }
            asks(&mut routes, 1, "session/load", Some("a"));
            tells(&mut routes, "a");
            if !is_read {
                // It learns of the session, and reads its stream; the order is still kept.
                routes.open(Some("a"), None).unwrap();
            }
            tells(&mut routes, "a");
            answers(&mut routes, 1, "{}");
            tells(&mut routes, "a");
            let expected = if is_read { (0, 4) } else { (3, 1) };
            let found = (got(&mut routes, None), got(&mut routes, Some("a")));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_client_cannot_make_up_streams_without_end() {
        let mut routes = routes();
        let readers: Vec<_> = (0..UNKNOWN)
            .map(|name| routes.open(Some(&name.to_string()), None).unwrap())
            .collect();
        assert_eq!(routes.open(Some("more"), None), Err(NoStream::Unknown));
        routes.leave(Some("0"), readers[0]);
        routes.open(Some("more"), None).unwrap();
        for id in 0..QUESTIONS as u64 {
            asks(&mut routes, id, "session/list", None);
        }
        let one_more = r#"{"jsonrpc":"2.0","id":"more","method":"session/list"}"#;
        assert_eq!(routes.note(&message(one_more)), Noted::TooMany);
    }

    #[test]
    fn what_all_streams_hold_is_known_without_asking_each() {
        let mut routes = routes();
        let reader = routes.open(Some("a"), None).unwrap();
        asks(&mut routes, 1, "session/new", None);
        tells(&mut routes, "a");
        tells(&mut routes, "b");
        let each: usize = routes
            .mailboxes()
            .map(|mailbox| mailbox.waiting())
            .max()
            .unwrap();
        assert_eq!(routes.waiting(), 2 * each);
        assert!(!routes.is_flushed());
        assert_eq!(got(&mut routes, Some("a")), 1);
        assert_eq!((routes.waiting(), routes.totals.kept.get()), (each, each));
        // Nobody reads the other one.
        assert!(routes.is_flushed());
        routes.sessions.remove("b");
        routes.mailbox(Some("a")).unwrap().leave(reader);
        routes.trim(Instant::now() + Duration::from_secs(1), Duration::ZERO);
        assert_eq!((routes.waiting(), routes.totals.kept.get()), (0, 0));
    }

    #[test]
    fn an_open_request_is_not_forgotten_for_another_with_its_id() {
        let mut routes = with_seats(1);
        routes.open(None, None).unwrap();
        asks(&mut routes, 1, "session/new", None);
        let again = message(r#"{"jsonrpc":"2.0","id":1,"method":"session/list"}"#);
        assert_eq!(routes.note(&again), Noted::Answered);
        assert_eq!(got(&mut routes, None), 1);
        let opened = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}"#;
        assert_eq!(routes.push(opened.into()).as_deref(), Some("a"));
        assert_eq!(routes.gauges().sessions, 1);
    }

    #[test]
    fn the_stream_of_a_closed_session_waits_for_a_reader_only_for_a_while() {
        let mut routes = routes();
        let reader = routes.open(Some("a"), None).unwrap();
        tells(&mut routes, "a");
        asks(&mut routes, 1, "session/close", Some("a"));
        routes.leave(Some("a"), reader);
        answers(&mut routes, 1, "{}");
        let soon = Instant::now();
        routes.trim(soon, Duration::from_secs(1));
        assert_ne!(routes.waiting(), 0);
        routes.trim(soon + Duration::from_secs(2), Duration::from_secs(1));
        assert_eq!(routes.waiting(), 0);
        assert!(routes.mailbox(Some("a")).is_none());
    }

    #[test]
    fn the_first_answer_goes_to_who_asked() {
        let mut routes = routes();
        asks(&mut routes, 1, "initialize", None);
        let mut answered = routes.answer_at_once(Id::from(1));
        routes.push(r#"{"jsonrpc":"2.0","method":"early"}"#.into());
        answers(&mut routes, 1, "{}");
        assert_eq!(answered.try_recv().unwrap().body(), "{}");
        assert_eq!(got(&mut routes, None), 1);
    }

    #[test]
    fn nobody_has_more_sessions_than_one_may_have_and_those_that_are_over_make_room() {
        let mut routes = with_seats(2);
        routes.open(None, None).unwrap();
        asks(&mut routes, 1, "session/new", None);
        answers(&mut routes, 1, r#"{"sessionId":"a"}"#);
        // A failed request has opened nothing.
        asks(&mut routes, 2, "session/load", Some("b"));
        routes.push(r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}"#.into());
        asks(&mut routes, 3, "session/load", Some("b"));
        let one_more = r#"{"jsonrpc":"2.0","id":4,"method":"session/new","params":{}}"#;
        assert_eq!(routes.note(&message(one_more)), Noted::Answered);
        answers(&mut routes, 3, "{}");
        assert_eq!(routes.note(&message(one_more)), Noted::Answered);
        // An open session can be loaded again.
        asks(&mut routes, 5, "session/load", Some("a"));
        answers(&mut routes, 5, "{}");
        assert_eq!(routes.gauges().sessions, 2);
        asks(&mut routes, 6, "session/close", Some("b"));
        answers(&mut routes, 6, "{}");
        assert_eq!(routes.note(&message(one_more)), Noted::Yes);
        assert_eq!(routes.gauges().sessions, 1);
        routes.end();
        assert!(routes.account.seat().is_some() && routes.account.seat().is_some());
    }

    #[test]
    fn in_version_2_a_turn_runs_until_the_agent_says_that_it_is_idle() {
        let mut routes = routes();
        asks(&mut routes, 1, "initialize", None);
        answers(&mut routes, 1, r#"{"protocolVersion":2}"#);
        let says = |routes: &mut Routes, state: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"a","update":{{"sessionUpdate":"state_update",{state}}}}}}}"#
            );
            routes.push(text.into());
        };
        asks(&mut routes, 2, "session/prompt", Some("a"));
        answers(&mut routes, 2, r#"{"messageId":"m"}"#);
        assert!(!routes.is_idle());
        for state in ["running", "requires_action"] {
            says(&mut routes, &format!(r#""state":"{state}""#));
            assert!(!routes.is_idle());
            assert_eq!(routes.gauges().turns, 1);
        }
        says(&mut routes, r#""state":"idle","stopReason":"end_turn""#);
        assert!(routes.is_idle());
        let mut page = super::super::metrics::Page::default();
        routes.figures.write(&mut page);
        let ended = page.into_text();
        let line = "acp_chain_turns_total{end=\"end_turn\"} 1\n";
        assert!(ended.contains(line), "{ended}");
    }

    #[test]
    fn each_turn_is_counted_once_however_it_ends() {
        let mut routes = routes();
        for (id, reason) in [(1, "end_turn"), (2, "cancelled"), (3, "x")] {
            asks(&mut routes, id, "session/prompt", Some("a"));
            assert_eq!(routes.gauges().turns, 1);
            answers(&mut routes, id, &format!(r#"{{"stopReason":"{reason}"}}"#));
        }
        asks(&mut routes, 4, "session/prompt", Some("a"));
        routes.push(r#"{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"no"}}"#.into());
        asks(&mut routes, 5, "session/prompt", Some("a"));
        routes.end();
        let mut page = super::super::metrics::Page::default();
        routes.figures.write(&mut page);
        let text = page.into_text();
        for end in ["end_turn", "cancelled", "other", "error", "lost"] {
            let line = format!("acp_chain_turns_total{{end=\"{end}\"}} 1\n");
            assert!(text.contains(&line), "{line}{text}");
        }
    }
}
