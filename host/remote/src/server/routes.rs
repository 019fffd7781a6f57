//! Which stream a message goes to: that of its session, or that of the connection (RFD
//! streamable-http-websocket-transport).
//!
//! An answer goes where its question belongs. A session is known once the agent has named it, or the client asks the
//! agent to load it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use acp_chain_rpc::{Id, Message, member};
use bytes::Bytes;
use tokio::sync::oneshot;

use super::mailbox::{Closed, Mailbox};

/// How many sessions a connection has at most whose messages have a stream of their own; those of others go to the
/// connection's.
const SESSIONS: usize = 4096;

/// How many of them nobody but the client has named: it opens their streams before it asks for them.
const UNKNOWN: usize = 16;

/// How much is kept of what was sent, of all streams, in bytes.
const KEPT: usize = 4 << 20;

/// How many questions of a client may be open.
const QUESTIONS: usize = 4096;

/// What the answer to a question says of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    /// There is a new one.
    Opens,
    /// The one asked for is there again.
    Loads,
    /// It is no more.
    Closes,
}

impl Effect {
    fn of(method: &str) -> Self {
        match method {
            "session/new" | "session/fork" => Self::Opens,
            "session/load" | "session/resume" => Self::Loads,
            "session/close" | "session/delete" => Self::Closes,
            _ => Self::None,
        }
    }
}

/// Whether a method is about a session that is there, which its message names.
pub fn is_of_session(method: &str) -> bool {
    matches!(
        method,
        "session/prompt"
            | "session/cancel"
            | "session/close"
            | "session/delete"
            | "session/fork"
            | "session/load"
            | "session/resume"
            | "session/set_config_option"
            | "session/set_mode"
            | "session/set_model"
    )
}

/// Why a stream cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStream {
    /// Nobody has named that session, and too many are unknown already.
    Unknown,
    /// It cannot be read.
    Closed(Closed),
}

#[derive(Debug)]
struct Question {
    session: Option<Arc<str>>,
    effect: Effect,
}

#[derive(Debug)]
struct Session {
    mailbox: Mailbox,
    is_known: bool,
    /// Whether its messages go to the connection's stream: it is being loaded by a client that does not read its own yet.
    is_elsewhere: bool,
}

/// All streams of a connection.
#[derive(Debug)]
pub struct Routes {
    connection: Mailbox,
    sessions: HashMap<Arc<str>, Session>,
    questions: HashMap<Id, Question>,
    /// Who waits for the answer that is given at once, with the id of its question.
    first: Option<(Id, oneshot::Sender<Message>)>,
    /// Whether all goes to the connection's stream.
    is_one: bool,
}

impl Routes {
    /// Streams of events, one for each session; or one for all.
    pub fn new(is_one: bool) -> Self {
        Self {
            connection: Mailbox::new(!is_one),
            sessions: HashMap::new(),
            questions: HashMap::new(),
            first: None,
            is_one,
        }
    }

    /// The answer to this question is given at once.
    pub fn answer_at_once(&mut self, id: Id) -> oneshot::Receiver<Message> {
        let (answer, answered) = oneshot::channel();
        self.first = Some((id, answer));
        answered
    }

    /// A message of the client's is on its way. `false` if it has too many open questions already.
    pub fn note(&mut self, message: &Message) -> bool {
        if message.kind().is_response() {
            return true;
        }
        let effect = Effect::of(message.method());
        let session = message.session().cloned();
        if effect == Effect::Loads
            && !self.is_one
            && let Some(name) = &session
        {
            // A client that reads it gets there what the agent tells again; another one learns of it first.
            let loaded = self.session(name, true);
            if let Some(loaded) = loaded {
                loaded.is_elsewhere = !loaded.mailbox.is_read();
            }
        }
        let Some(id) = message.id() else { return true };
        let is_new = !self.questions.contains_key(&id);
        if is_new && self.questions.len() >= QUESTIONS {
            return false;
        }
        self.questions.insert(id, Question { session, effect });
        true
    }

    /// Whether no question of the client's is open.
    pub fn is_idle(&self) -> bool {
        self.questions.is_empty() && self.first.is_none()
    }

    /// Puts what the agent says where it belongs. Gives a session that it has opened.
    pub fn push(&mut self, line: Bytes) -> Option<Arc<str>> {
        let Ok(message) = Message::parse(line.clone()) else {
            self.connection.push(line);
            return None;
        };
        if message.kind().is_response() {
            return self.push_answer(line, &message);
        }
        match message.session() {
            Some(name) if !self.is_one => self.push_to(name, line),
            _ => self.connection.push(line),
        }
        None
    }

    fn push_to(&mut self, name: &Arc<str>, line: Bytes) {
        match self.session(name, true) {
            Some(session) if !session.is_elsewhere => session.mailbox.push(line),
            _ => self.connection.push(line),
        }
    }

    fn push_answer(&mut self, line: Bytes, message: &Message) -> Option<Arc<str>> {
        let id = message.id().unwrap_or_else(Id::null);
        let question = self.questions.remove(&id);
        if let Some((_, waits)) = self.first.take_if(|(first, _)| *first == id) {
            let _ = waits.send(message.clone());
            return None;
        }
        let (session, effect) = match question {
            Some(question) => (question.session, question.effect),
            None => (None, Effect::None),
        };
        let opened = named(message).filter(|_| effect == Effect::Opens);
        match session.filter(|_| !self.is_one && effect != Effect::Opens) {
            Some(name) => {
                self.push_to(&name, line);
                self.answered(&name, effect);
            }
            None => {
                // Before the client can know its name.
                if let Some(name) = opened.as_ref().filter(|_| !self.is_one) {
                    self.session(name, true);
                }
                self.connection.push(line);
            }
        }
        opened
    }

    fn answered(&mut self, name: &Arc<str>, effect: Effect) {
        let Some(session) = self.sessions.get_mut(name) else {
            return;
        };
        match effect {
            Effect::Loads => session.is_elsewhere = false,
            // Its stream ends with its reader; a session of that name is another one.
            Effect::Closes => session.is_known = false,
            Effect::None | Effect::Opens => {}
        }
    }

    /// What is known of a session; nothing if there are too many.
    fn session(&mut self, name: &Arc<str>, is_known: bool) -> Option<&mut Session> {
        if !self.sessions.contains_key(name) {
            if self.sessions.len() >= SESSIONS {
                return None;
            }
            let session = Session {
                mailbox: Mailbox::new(true),
                is_known,
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

    /// Begins to read a stream.
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

    /// Reads a stream no more. One of a session that nobody else has named is forgotten.
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

    /// The bytes that were not sent, of all streams.
    pub fn waiting(&mut self) -> usize {
        self.mailboxes().map(|mailbox| mailbox.waiting()).sum()
    }

    /// Keeps no more than there may be of what was sent: what is kept of the most goes first.
    pub fn bound(&mut self) {
        let mut kept: usize = self.mailboxes().map(|mailbox| mailbox.kept()).sum();
        while kept > KEPT
            && let Some(most) = self.mailboxes().max_by_key(|mailbox| mailbox.kept())
        {
            kept -= most.kept();
            most.forget_all();
        }
    }

    /// Whether all was sent that somebody reads.
    pub fn is_flushed(&mut self) -> bool {
        self.mailboxes()
            .all(|mailbox| mailbox.waiting() == 0 || !mailbox.is_read())
    }

    /// Whoever reads looks again.
    pub fn wake(&mut self) {
        self.mailboxes().for_each(Mailbox::wake);
    }

    /// Forgets what was sent longer ago than that.
    pub fn trim(&mut self, now: Instant, age: Duration) {
        self.mailboxes().for_each(|mailbox| mailbox.trim(now, age));
    }

    /// For how long nobody has read any stream.
    pub fn deserted(&mut self, now: Instant) -> Option<Duration> {
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
        assert!(routes.note(&message(&text)));
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
        let mut routes = Routes::new(false);
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
    fn a_session_is_loaded_on_its_stream_if_that_is_read_and_else_on_the_connections() {
        for is_read in [true, false] {
            let mut routes = Routes::new(false);
            routes.open(None, None).unwrap();
            if is_read {
                routes.open(Some("a"), None).unwrap();
            }
            asks(&mut routes, 1, "session/load", Some("a"));
            tells(&mut routes, "a");
            if !is_read {
                // It learns of the session, and reads its stream; the order is kept all the same.
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
        let mut routes = Routes::new(false);
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
        assert!(!routes.note(&message(one_more)));
    }

    #[test]
    fn the_first_answer_goes_to_who_asked() {
        let mut routes = Routes::new(false);
        asks(&mut routes, 1, "initialize", None);
        let mut answered = routes.answer_at_once(Id::from(1));
        routes.push(r#"{"jsonrpc":"2.0","method":"early"}"#.into());
        answers(&mut routes, 1, "{}");
        assert_eq!(answered.try_recv().unwrap().body(), "{}");
        assert_eq!(got(&mut routes, None), 1);
    }
}
