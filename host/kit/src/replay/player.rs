//! The next message of our side, and the expected ones.
//!
//! A message of the recording is sent once all messages that the side received before it have arrived. Incoming
//! messages are compared with the recording, in the order of their session.

use std::collections::HashMap;
use std::time::Duration;

use acp_chain_acp::{CANCEL_REQUEST, INITIALIZE};
use acp_chain_ends::{answer, notification, request};
use acp_chain_trace::Kind;
use serde_json::{Value, json};

use super::recording::{Recording, Step, session, without_acp};
use super::same::Ids;

/// Plays one side.
#[derive(Debug, Default)]
pub struct Player {
    steps: Vec<Step>,
    /// Which steps were received or sent.
    is_done: Vec<bool>,
    /// The first step that is not done.
    next: usize,
    ids: Ids,
    /// The ids of the other side's requests in the replay, by their numbers in the recording.
    theirs: HashMap<u64, Value>,
    /// The numbers of our requests in the recording, by their ids in the replay.
    ours: HashMap<u64, u64>,
    given: HashMap<u64, u64>,
}

/// A difference of the other side from the recording.
#[derive(Debug)]
pub struct Difference {
    /// The line in the trace.
    pub line: Option<usize>,
    /// The place in the message.
    pub at: Option<String>,
    pub expected: String,
    pub received: String,
}

impl Player {
    pub fn new(recording: Recording) -> Self {
        Self {
            is_done: vec![false; recording.steps.len()],
            steps: recording.steps,
            ..Self::default()
        }
    }

    /// Whether the recording has ended.
    pub fn is_done(&self) -> bool {
        self.next == self.steps.len()
    }

    /// The next message, if our side sends it, and the recorded pause before it.
    pub fn next(&mut self) -> Option<(Duration, Value)> {
        self.skip_done();
        let next = self.steps.get(self.next);
        let step = next.filter(|step| step.is_ours)?.clone();
        self.is_done[self.next] = true;
        self.skip_done();
        Some((step.after, self.message(&step)))
    }

    /// Skips steps that are done.
    fn skip_done(&mut self) {
        while self.is_done.get(self.next) == Some(&true) {
            self.next += 1;
        }
    }

    fn message(&mut self, step: &Step) -> Value {
        let body = self.ids.renamed("", &step.body);
        match step.kind {
            Kind::Request => {
                let id = self.given.len() as u64;
                if let Some(recorded) = step.request {
                    self.given.insert(recorded, id);
                    self.ours.insert(id, recorded);
                }
                request(id, &step.method, body)
            }
            Kind::Notification => {
                let given = step.request.and_then(|recorded| self.given.get(&recorded));
                let withdrawn = given.filter(|_| step.method == CANCEL_REQUEST);
                let params = withdrawn.map_or(body, |id| json!({ "requestId": id }));
                notification(&step.method, params)
            }
            Kind::Response => {
                let id = step.request.and_then(|recorded| self.theirs.get(&recorded));
                let outcome = if step.is_error { Err(body) } else { Ok(body) };
                answer(id.unwrap_or(&Value::Null), outcome)
            }
        }
    }

    /// Takes a received message.
    pub fn take(&mut self, message: Value) -> Result<(), Difference> {
        let received = ReceivedMessage::of(&message, &self.ours);
        let Some(at) = self.expected(&received) else {
            return Err(Difference {
                line: None,
                at: None,
                expected: "nothing: the recording ends here".to_owned(),
                received: message.to_string(),
            });
        };
        let step = self.steps[at].clone();
        let differs = |at: Option<String>, expected: String, received: String| Difference {
            line: Some(step.line),
            at,
            expected,
            received,
        };
        if !received.is(&step) {
            return Err(differs(None, words(&step), message.to_string()));
        }
        let mut body = received.body.cloned().unwrap_or_default();
        if step.kind == Kind::Response && step.method == INITIALIZE {
            body = without_acp(body);
        }
        if step.method != CANCEL_REQUEST {
            self.ids.same(&step.body, &body).map_err(|unequal| {
                let at = format!("{} of {}", unequal.at, step.method);
                let [expected, received] = [unequal.expected, unequal.received];
                differs(Some(at), expected.to_string(), received.to_string())
            })?;
        }
        if let (Kind::Request, Some(request), Some(id)) =
            (step.kind, step.request, message.get("id"))
        {
            self.theirs.insert(request, id.clone());
        }
        self.is_done[at] = true;
        self.skip_done();
        Ok(())
    }

    /// The step expected next in the session of a received message. Outside sessions, answers may arrive in any order.
    fn expected(&self, received: &ReceivedMessage) -> Option<usize> {
        let session = match (received.kind, received.request) {
            (Kind::Response, Some(request)) => {
                let mut steps = self.steps.iter();
                let answer = steps.find(|step| {
                    step.kind == Kind::Response && !step.is_ours && step.request == Some(request)
                });
                answer.and_then(|step| step.session.clone())
            }
            _ => {
                let session = received.body.and_then(session);
                session.map(|session| self.ids.session_then(&session))
            }
        };
        let open = |at: &usize| !self.is_done[*at] && !self.steps[*at].is_ours;
        let all = || (self.next..self.steps.len()).filter(open);
        let mut in_session = all().filter(|at| self.steps[*at].session == session);
        let first = in_session.next();
        let same = match session {
            Some(_) => None,
            None => first
                .into_iter()
                .chain(in_session)
                .find(|at| received.is(&self.steps[*at])),
        };
        same.or(first).or_else(|| all().next())
    }

    /// The difference if an expected message did not arrive.
    pub fn missing(&self, why: &str) -> Difference {
        let step = self.steps[self.next..].iter().find(|step| !step.is_ours);
        Difference {
            line: step.map(|step| step.line),
            at: None,
            expected: step.map_or_else(|| "the end".to_owned(), words),
            received: why.to_owned(),
        }
    }

    /// The difference if a received line is not a message.
    pub fn malformed(&self, line: String) -> Difference {
        let difference = self.missing("");
        Difference {
            received: format!("no message: {line}"),
            ..difference
        }
    }
}

/// The parts of a received message that are compared.
struct ReceivedMessage<'m> {
    kind: Kind,
    method: Option<&'m str>,
    /// The request of the recording, for an answer.
    request: Option<u64>,
    is_error: bool,
    body: Option<&'m Value>,
}

impl<'m> ReceivedMessage<'m> {
    fn of(message: &'m Value, ours: &HashMap<u64, u64>) -> Self {
        let (method, id) = (message.get("method"), message.get("id"));
        let kind = match (method, id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) => Kind::Response,
        };
        let id = id.and_then(Value::as_u64).filter(|_| method.is_none());
        let is_error = |error: &&Value| method.is_none() && !error.is_null();
        let error = message.get("error").filter(is_error);
        let body = match kind {
            Kind::Response => error.or(message.get("result")),
            _ => message.get("params"),
        };
        Self {
            kind,
            method: method.and_then(Value::as_str),
            request: id.and_then(|id| ours.get(&id).copied()),
            is_error: error.is_some(),
            body,
        }
    }

    /// Whether the message has this step's kind and method, or answers this step's request.
    fn is(&self, step: &Step) -> bool {
        self.kind == step.kind
            && match self.kind {
                Kind::Response => self.request == step.request && self.is_error == step.is_error,
                _ => self.method == Some(&step.method),
            }
    }
}

fn words(step: &Step) -> String {
    let kind = match (step.kind, step.is_error) {
        (Kind::Response, true) => "the error for",
        (Kind::Response, false) => "the answer to",
        (kind, _) => kind.as_str(),
    };
    format!("{kind} {} {}", step.method, step.body)
}
