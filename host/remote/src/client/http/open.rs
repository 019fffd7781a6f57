//! The open state of a connection: the streams of sessions, and unanswered requests.

use std::collections::HashMap;
use std::sync::Arc;

use acp_chain_acp::Life;
use acp_chain_rpc::{Id, Kind, Message, code};
use reqwest::StatusCode;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::super::error::RemoteError;

/// How many requests of the agent may be open.
pub const AGENT_REQUESTS: usize = 4096;

/// Why the server rejected a message or a stream.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub error: RemoteError,
}

impl Refusal {
    /// Whether the connection or the session is unknown to the server.
    pub fn is_unknown(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }
}

impl From<Refusal> for RemoteError {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

/// The state of a stream.
#[derive(Clone, Debug)]
pub enum StreamState {
    Opening,
    Open,
    Refused(Refusal),
}

/// A request of ours.
#[derive(Debug)]
pub struct OpenRequest {
    session: Option<Arc<str>>,
    /// What the request does, which decides what its answer means for the session.
    life: Life,
}

/// What an answer means for a session.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// The answer names this new session.
    Begins(Arc<str>),
    /// This session has ended.
    Ends(Arc<str>),
}

/// A stream that is read.
#[derive(Debug)]
pub struct Stream {
    standing: watch::Receiver<StreamState>,
    /// The task that reads it, once it runs.
    reads: Option<AbortHandle>,
}

/// The open state.
#[derive(Debug, Default)]
pub struct Open {
    /// By session. After a stream has closed, the next message of its session opens another.
    pub streams: HashMap<Arc<str>, Stream>,
    /// Those of our side that need an answer.
    pub requests: HashMap<Id, OpenRequest>,
    /// The agent's requests, with the session on whose stream they arrived.
    pub agent_requests: HashMap<Id, Arc<str>>,
}

impl Open {
    /// The stream of a session, and the sender of its state if it is new.
    pub fn stream(
        &mut self,
        session: &Arc<str>,
    ) -> (
        watch::Receiver<StreamState>,
        Option<watch::Sender<StreamState>>,
    ) {
        if let Some(stream) = self.streams.get(session) {
            return (stream.standing.clone(), None);
        }
        let (sender, standing) = watch::channel(StreamState::Opening);
        let stream = Stream {
            standing: standing.clone(),
            reads: None,
        };
        self.streams.insert(session.clone(), stream);
        (standing, Some(sender))
    }

    /// Sets the task that reads a stream.
    pub fn reads(&mut self, session: &str, task: AbortHandle) {
        if let Some(stream) = self.streams.get_mut(session) {
            stream.reads = Some(task);
        }
    }

    /// A session has ended: its stream is no longer read.
    pub fn ended(&mut self, session: &str) {
        let stream = self.streams.remove(session);
        if let Some(reads) = stream.and_then(|stream| stream.reads) {
            reads.abort();
        }
    }

    /// Notes a request of our side.
    pub fn note_request(&mut self, id: Id, session: Option<Arc<str>>, method: &str) {
        let life = Life::of(method);
        self.requests.insert(id, OpenRequest { session, life });
    }

    /// Notes an answer to our side. Returns what it means for a session.
    pub fn note_answer(&mut self, answer: &Message) -> Option<Effect> {
        let request = self.requests.remove(&answer.id()?)?;
        let is_result = answer.kind() == Kind::Result;
        match request.life {
            life if life.names_session() && is_result => {
                answer.session().cloned().map(Effect::Begins)
            }
            // A session that is unknown to the server has ended.
            Life::Ends if is_result || answer.is_error(code::RESOURCE_NOT_FOUND) => {
                request.session.map(Effect::Ends)
            }
            _ => None,
        }
    }

    /// Removes and returns our requests of a session, none of which will be answered.
    pub fn fail(&mut self, session: &str) -> Vec<Id> {
        let of_it = |request: &OpenRequest| request.session.as_deref() == Some(session);
        let waiting = self.requests.extract_if(|_, request| of_it(request));
        waiting.map(|(id, _)| id).collect()
    }

    /// Notes a request of the agent on this session's stream. `false` if too many are open.
    pub fn note_agent_request(&mut self, id: &Id, session: &Arc<str>) -> bool {
        self.agent_requests.insert(id.clone(), session.clone());
        self.agent_requests.len() <= AGENT_REQUESTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_stream_of_a_closed_session_is_not_read_any_more() {
        let mut open = Open::default();
        let session: Arc<str> = "s".into();
        let answer = |text: &str| Message::parse(text.to_owned().into()).unwrap();
        let refused = answer(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#);
        let closed = answer(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        open.stream(&session);
        let reads = tokio::spawn(std::future::pending::<()>());
        open.reads(&session, reads.abort_handle());
        let one = || Id::parse("1").unwrap();
        open.note_request(one(), Some(session.clone()), "session/close");
        assert_eq!(open.note_answer(&refused), None);
        open.note_request(one(), Some(session.clone()), "session/close");
        assert_eq!(
            open.note_answer(&closed),
            Some(Effect::Ends(session.clone()))
        );
        open.ended(&session);
        assert!(reads.await.unwrap_err().is_cancelled());
        // A later session of that name is read again.
        assert!(open.stream(&session).1.is_some());
    }
}
