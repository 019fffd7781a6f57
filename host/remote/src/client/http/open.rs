//! The open state of a connection: the streams of sessions, and unanswered requests.

use std::collections::HashMap;
use std::sync::Arc;

use acp_chain_rpc::{Id, Message};
use reqwest::StatusCode;
use tokio::sync::watch;

use super::super::error::RemoteError;

/// How many requests of the agent may be open.
pub const QUESTIONS: usize = 4096;

/// Why the server refused something.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub error: RemoteError,
}

impl Refusal {
    /// Whether the server does not know its connection or session.
    pub fn is_unknown(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }
}

/// The state of a stream.
#[derive(Clone, Debug)]
pub enum Standing {
    Opening,
    Open,
    Refused(Refusal),
}

/// A request of ours.
#[derive(Debug)]
struct Asked {
    session: Option<Arc<str>>,
    /// Whether its answer names a new session.
    begins: bool,
}

/// The open state.
#[derive(Debug, Default)]
pub struct Open {
    streams: HashMap<Arc<str>, watch::Receiver<Standing>>,
    asked: HashMap<Id, Asked>,
    /// The agent's requests, with the session on whose stream they arrived.
    asks: HashMap<Id, Arc<str>>,
}

impl Open {
    /// The stream of a session, and the sender of its state if it is new.
    pub fn stream(
        &mut self,
        session: &Arc<str>,
    ) -> (watch::Receiver<Standing>, Option<watch::Sender<Standing>>) {
        if let Some(stream) = self.streams.get(session) {
            return (stream.clone(), None);
        }
        let (tell, told) = watch::channel(Standing::Opening);
        self.streams.insert(session.clone(), told.clone());
        (told, Some(tell))
    }

    /// A stream has closed: the next message of its session opens another.
    pub fn closed(&mut self, session: &str) {
        self.streams.remove(session);
    }

    /// Our side sends a request.
    pub fn asks(&mut self, id: Id, session: Option<Arc<str>>, method: &str) {
        let begins = matches!(method, "session/new" | "session/fork");
        self.asked.insert(id, Asked { session, begins });
    }

    /// Our side gets an answer. Returns the session that begins with it.
    pub fn hears_answer(&mut self, answer: &Message) -> Option<Arc<str>> {
        let asked = self.asked.remove(&answer.id()?)?;
        asked.begins.then(|| answer.session().cloned())?
    }

    /// Our side no longer needs an answer to this. Returns whether it did.
    pub fn settle(&mut self, id: &Id) -> bool {
        self.asked.remove(id).is_some()
    }

    /// Removes and returns our requests of a session, none of which will be answered.
    pub fn fail(&mut self, session: &str) -> Vec<Id> {
        let of_it = |asked: &Asked| asked.session.as_deref() == Some(session);
        let waiting = self.asked.extract_if(|_, asked| of_it(asked));
        waiting.map(|(id, _)| id).collect()
    }

    /// The agent sends a request on this session's stream. `false` if too many are open.
    pub fn note_question(&mut self, id: &Id, session: &Arc<str>) -> bool {
        self.asks.insert(id.clone(), session.clone());
        self.asks.len() <= QUESTIONS
    }

    /// Our side answers the agent. Returns the session on whose stream the request arrived.
    pub fn answers(&mut self, id: &Id) -> Option<Arc<str>> {
        self.asks.remove(id)
    }
}
