//! What is open on a connection: the streams of sessions, and requests that wait for their answers.

use std::collections::HashMap;
use std::sync::Arc;

use acp_chain_rpc::{Id, Message};
use reqwest::StatusCode;
use tokio::sync::watch;

use super::super::error::RemoteError;

/// How many requests of the agent's may be open.
pub const QUESTIONS: usize = 4096;

/// Why the server does not take something.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub error: RemoteError,
}

impl Refusal {
    /// Whether the server does not know what it is about.
    pub fn is_unknown(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }
}

/// How far a stream is.
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
    /// Whether its answer names a session that there was not before.
    begins: bool,
}

/// What is open.
#[derive(Debug, Default)]
pub struct Open {
    streams: HashMap<Arc<str>, watch::Receiver<Standing>>,
    asked: HashMap<Id, Asked>,
    /// What the agent asks, by the session whose stream it came by.
    asks: HashMap<Id, Arc<str>>,
}

impl Open {
    /// The stream of a session, and what it is told by if it is new.
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

    /// A stream is no more: the next message of its session opens another.
    pub fn closed(&mut self, session: &str) {
        self.streams.remove(session);
    }

    /// Our side asks.
    pub fn asks(&mut self, id: Id, session: Option<Arc<str>>, method: &str) {
        let begins = matches!(method, "session/new" | "session/fork");
        self.asked.insert(id, Asked { session, begins });
    }

    /// Our side is answered. Gives the session that begins with this.
    pub fn hears_answer(&mut self, answer: &Message) -> Option<Arc<str>> {
        let asked = self.asked.remove(&answer.id()?)?;
        asked.begins.then(|| answer.session().cloned())?
    }

    /// Our side needs no more answer to this. Whether it needed one.
    pub fn is_answered(&mut self, id: &Id) -> bool {
        self.asked.remove(id).is_some()
    }

    /// Takes away, and gives, our requests of a session, none of which will be answered.
    pub fn fail(&mut self, session: &str) -> Vec<Id> {
        let of_it = |asked: &Asked| asked.session.as_deref() == Some(session);
        let waiting = self.asked.extract_if(|_, asked| of_it(asked));
        waiting.map(|(id, _)| id).collect()
    }

    /// The agent asks by this session's stream. `false` if it has asked too much.
    pub fn is_asked(&mut self, id: &Id, session: &Arc<str>) -> bool {
        self.asks.insert(id.clone(), session.clone());
        self.asks.len() <= QUESTIONS
    }

    /// Our side answers the agent. Gives the session whose stream the request came by.
    pub fn answers(&mut self, id: &Id) -> Option<Arc<str>> {
        self.asks.remove(id)
    }
}
