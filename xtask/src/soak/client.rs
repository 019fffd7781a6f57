//! The client of the soak: some sessions, each with a turn open, until the time is over.
//!
//! It answers all requests, and counts messages and answers. One kind of request it answers late, so that a proxy has
//! an open request when it crashes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use acp_chain_acp::{CANCEL, CANCEL_REQUEST, INITIALIZE, PERMISSION, PROMPT, READ, UPDATE, code};
use acp_chain_ends::client::{allowing, choose, prompt};
use acp_chain_ends::{Arrival, End, Outcome, Request, notification};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::samples::Samples;
use super::script::{self, Cancel};
use crate::host::Host;

/// After this long without a message, open requests count as unanswered.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest delay of a late answer.
const LATE: Duration = Duration::from_millis(5);

/// The counts of a run.
#[derive(Default)]
pub struct Counts {
    /// Messages that the client sent and received.
    pub messages: u64,
    /// Turns; the next three count how they ended.
    pub turns: u64,
    /// Ended by a result.
    pub ended: u64,
    /// Ended by a cancellation.
    pub cancelled: u64,
    /// Ended by an error that names the crashing proxy.
    pub refused: u64,
    /// Cancellations that the client sent.
    pub cancels: u64,
    /// Requests received from the agent or a proxy.
    pub asked: u64,
    /// Of those, cancelled by the sender.
    pub withdrawn: u64,
    /// The host's own messages to the user.
    pub notices: u64,
    /// The client's requests that were never answered.
    pub unanswered: Vec<String>,
    /// Answers to no open request, and errors with another cause than a crash.
    pub wrong: Vec<String>,
}

/// A request from the client.
enum SentRequest {
    Initialize,
    Turn { session: usize, cancel: Cancel },
    Crash,
}

pub struct Client {
    host: Host,
    end: End<SentRequest>,
    /// Requests to answer late.
    late: VecDeque<Request>,
    counts: Counts,
}

impl Client {
    pub fn new(host: Host) -> Self {
        Self {
            host,
            end: End::default(),
            late: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Plays turns for this long, and then waits for open requests.
    pub fn drive(mut self, time: Duration, samples: &mut Samples) -> Result<Counts> {
        self.initialize()?;
        let start = Instant::now();
        for session in 0..script::SESSIONS {
            self.prompt(session)?;
        }
        while self.end.open().next().is_some() {
            samples.take(start.elapsed())?;
            let patience = if self.late.is_empty() { PATIENCE } else { LATE };
            let more = start.elapsed() < time;
            match self.host.receive(patience)? {
                Some(message) => self.handle(message, more)?,
                None if self.late.is_empty() => break,
                None => {}
            }
            if let Some(request) = self.late.pop_front() {
                self.send(&request.respond(json!({})))?;
            }
        }
        let open = self.end.give_up();
        self.counts.unanswered = open.map(|asked| asked.to_string()).collect();
        let status = self.host.close()?;
        ensure!(status.success(), "acp-chain ended with {status}");
        Ok(self.counts)
    }

    fn initialize(&mut self) -> Result<()> {
        let version = json!({"protocolVersion": 1});
        let request = self
            .end
            .request(INITIALIZE, version, SentRequest::Initialize);
        self.host.send(&request)?;
        let answer = self.host.receive(PATIENCE)?;
        let answer = answer.context("acp-chain does not answer initialize")?;
        match self.end.take(answer) {
            Arrival::Answer(_, Ok(_)) => Ok(()),
            _ => bail!("this is not an answer to initialize"),
        }
    }

    fn ask(&mut self, asked: SentRequest, method: &str, params: Value) -> Result<()> {
        let request = self.end.request(method, params, asked);
        self.send(&request)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        self.counts.messages += 1;
        self.host.send(message)
    }

    /// Opens the next turn of a session.
    fn prompt(&mut self, session: usize) -> Result<()> {
        let (text, cancel) = script::turn(self.counts.turns);
        let params = prompt(&name(session).into(), text);
        self.ask(SentRequest::Turn { session, cancel }, PROMPT, params)?;
        self.counts.turns += 1;
        if self.counts.turns.is_multiple_of(script::CLIENT_CRASHES) {
            self.ask(SentRequest::Crash, script::CRASH, json!({}))?;
        }
        Ok(())
    }

    fn handle(&mut self, message: Value, more: bool) -> Result<()> {
        self.counts.messages += 1;
        match self.end.take(message) {
            Arrival::Answer(asked, outcome) => self.answered(&asked, &outcome, more),
            Arrival::Notification(method, params) => match &*method {
                UPDATE => self.told(&params),
                CANCEL_REQUEST => {
                    self.counts.withdrawn += 1;
                    Ok(())
                }
                _ => Ok(()),
            },
            Arrival::Request(request) => {
                self.counts.asked += 1;
                let result = match request.method() {
                    script::ASKED => {
                        self.late.push_back(request);
                        return Ok(());
                    }
                    READ => json!({"content": "some notes"}),
                    PERMISSION => choose(allowing(request.params())),
                    _ => json!({}),
                };
                self.send(&request.respond(result))
            }
            Arrival::Stray(message) => {
                self.counts.wrong.push(message.to_string());
                Ok(())
            }
        }
    }

    /// Handles an update: a notice of the host, or one of a turn, which may be cancelled now.
    fn told(&mut self, params: &Value) -> Result<()> {
        let text = params["update"]["content"]["text"].as_str();
        if text.is_some_and(|text| text.contains("**acp-chain**")) {
            self.counts.notices += 1;
            return Ok(());
        }
        self.cancel(&params["sessionId"])
    }

    /// Cancels the turn of a session, if its script ends with that.
    fn cancel(&mut self, session: &Value) -> Result<()> {
        let turn = self.end.open().find_map(|(id, asked)| match asked {
            SentRequest::Turn {
                session: of,
                cancel,
            } if *session == name(*of) => Some((id, std::mem::replace(cancel, Cancel::Never))),
            _ => None,
        });
        match turn {
            None | Some((_, Cancel::Never)) => return Ok(()),
            Some((_, Cancel::Session)) => {
                self.send(&notification(CANCEL, json!({"sessionId": session})))?;
            }
            Some((id, Cancel::Request)) => {
                self.send(&notification(CANCEL_REQUEST, json!({"requestId": id})))?;
            }
        }
        self.counts.cancels += 1;
        Ok(())
    }

    fn answered(&mut self, asked: &SentRequest, outcome: &Outcome, more: bool) -> Result<()> {
        let stopped = outcome.as_ref().ok().map(|result| &result["stopReason"]);
        let error = outcome.as_ref().err().unwrap_or(&Value::Null);
        let crashed = format!("the proxy `{}` failed on ", script::CRASHES);
        let message = error["message"].as_str();
        let refused = message.is_some_and(|message| message.contains(&crashed));
        let counts = &mut self.counts;
        let wrong = || format!("{asked}: {outcome:?}");
        let SentRequest::Turn { session, .. } = asked else {
            counts.wrong.extend((!refused).then(wrong));
            return Ok(());
        };
        match (stopped.and_then(Value::as_str), error["code"].as_i64()) {
            (Some("end_turn"), _) => counts.ended += 1,
            (Some("cancelled"), _) | (_, Some(code::REQUEST_CANCELLED)) => counts.cancelled += 1,
            _ if refused => counts.refused += 1,
            _ => counts.wrong.push(wrong()),
        }
        if more { self.prompt(*session) } else { Ok(()) }
    }
}

impl std::fmt::Display for SentRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Turn { session, .. } => write!(f, "a turn of {}", name(*session)),
            Self::Initialize => f.write_str(INITIALIZE),
            Self::Crash => f.write_str(script::CRASH),
        }
    }
}

fn name(session: usize) -> String {
    format!("session-{session}")
}
