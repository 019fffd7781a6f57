//! The client of the soak: some sessions, each with a turn open, until the time is over.
//!
//! It answers whatever it is asked, and counts what it sent and was answered. One thing that it is
//! asked it answers late, so that a proxy has something outstanding when it crashes.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::samples::Samples;
use super::script::{self, Cancel};
use crate::host::{self, Host};
use crate::wire;

/// When nothing has come for so long, what is open is unanswered.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the client takes at most for what it answers late.
const LATE: Duration = Duration::from_millis(5);

/// What was counted.
#[derive(Default)]
pub struct Counts {
    /// Messages that the client sent and received.
    pub messages: u64,
    /// Turns, and how they ended.
    pub turns: u64,
    /// By a result.
    pub ended: u64,
    /// By a cancellation.
    pub cancelled: u64,
    /// By an error that names the proxy that crashes.
    pub refused: u64,
    /// Cancellations that the client sent.
    pub cancels: u64,
    /// Requests of the agent's or a proxy's that came.
    pub asked: u64,
    /// Of those, withdrawn.
    pub withdrawn: u64,
    /// Messages of the host's own to the user.
    pub notices: u64,
    /// What the client sent and never got an answer to.
    pub unanswered: Vec<String>,
    /// Answers that nobody waited for, and errors that have another cause than a crash.
    pub wrong: Vec<String>,
}

/// A request of the client's.
enum Asked {
    Turn { session: usize, cancel: Cancel },
    Crash,
}

pub struct Client {
    host: Host,
    requests: u64,
    open: HashMap<u64, Asked>,
    /// Ids of requests that are to be answered late.
    late: VecDeque<Value>,
    counts: Counts,
}

impl Client {
    pub fn new(host: Host) -> Self {
        Self {
            host,
            requests: 0,
            open: HashMap::new(),
            late: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Plays turns for so long, and then waits for what is open.
    pub fn drive(mut self, time: Duration, samples: &mut Samples) -> Result<Counts> {
        self.initialize()?;
        let start = Instant::now();
        for session in 0..script::SESSIONS {
            self.prompt(session)?;
        }
        while !self.open.is_empty() {
            samples.take(start.elapsed())?;
            let patience = match self.late.is_empty() {
                true => PATIENCE,
                false => LATE,
            };
            let more = start.elapsed() < time;
            match self.host.receive(patience)? {
                Some(message) => self.handle(&message, more)?,
                None if self.late.is_empty() => break,
                None => {}
            }
            if let Some(id) = self.late.pop_front() {
                self.respond(&id, &json!({}))?;
            }
        }
        let open = self.open.values();
        self.counts.unanswered = open.map(Asked::to_string).collect();
        host::ended_well(self.host.close()?)?;
        Ok(self.counts)
    }

    fn initialize(&mut self) -> Result<()> {
        wire::request(
            &mut self.host.input,
            0,
            "initialize",
            &json!({"protocolVersion": 1}),
        )?;
        let answer = self.host.receive(PATIENCE)?;
        let answer = answer.context("acp-chain does not answer initialize")?;
        wire::result_of(&answer, 0)?.context("this is not an answer to initialize")?;
        Ok(())
    }

    fn ask(&mut self, asked: Asked, method: &str, params: &Value) -> Result<()> {
        self.requests += 1;
        self.counts.messages += 1;
        self.open.insert(self.requests, asked);
        wire::request(&mut self.host.input, self.requests, method, params)
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        self.counts.messages += 1;
        wire::notify(&mut self.host.input, method, params)
    }

    fn respond(&mut self, id: &Value, result: &Value) -> Result<()> {
        self.counts.messages += 1;
        wire::respond(&mut self.host.input, id, result)
    }

    /// Opens the next turn of a session.
    fn prompt(&mut self, session: usize) -> Result<()> {
        let (text, cancel) = script::turn(self.counts.turns);
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": name(session), "prompt": prompt});
        self.ask(Asked::Turn { session, cancel }, "session/prompt", &params)?;
        self.counts.turns += 1;
        if self.counts.turns.is_multiple_of(script::CLIENT_CRASHES) {
            self.ask(Asked::Crash, script::CRASH, &json!({}))?;
        }
        Ok(())
    }

    fn handle(&mut self, message: &Value, more: bool) -> Result<()> {
        self.counts.messages += 1;
        let params = &message["params"];
        match message["method"].as_str() {
            None => self.answered(message, more),
            Some("session/update") => {
                let text = params["update"]["content"]["text"].as_str();
                if text.is_some_and(|text| text.contains("**acp-chain**")) {
                    self.counts.notices += 1;
                    return Ok(());
                }
                self.cancel(&params["sessionId"])
            }
            Some("$/cancel_request") => {
                self.counts.withdrawn += 1;
                Ok(())
            }
            Some(method) => {
                let Some(id) = message.get("id") else {
                    return Ok(());
                };
                self.counts.asked += 1;
                let selected = json!({"outcome": "selected", "optionId": "allow-once"});
                match method {
                    script::ASKED => {
                        self.late.push_back(id.clone());
                        Ok(())
                    }
                    "fs/read_text_file" => self.respond(id, &json!({"content": "some notes"})),
                    "session/request_permission" => self.respond(id, &json!({"outcome": selected})),
                    _ => self.respond(id, &json!({})),
                }
            }
        }
    }

    /// Cancels the turn of a session, if that is how it is to end.
    fn cancel(&mut self, session: &Value) -> Result<()> {
        let turn = self.open.iter_mut().find_map(|(id, asked)| match asked {
            Asked::Turn {
                session: of,
                cancel,
            } if *session == name(*of) => Some((*id, std::mem::replace(cancel, Cancel::Never))),
            _ => None,
        });
        match turn {
            None | Some((_, Cancel::Never)) => return Ok(()),
            Some((_, Cancel::Session)) => {
                self.notify("session/cancel", &json!({"sessionId": session}))?;
            }
            Some((id, Cancel::Request)) => {
                self.notify("$/cancel_request", &json!({"requestId": id}))?;
            }
        }
        self.counts.cancels += 1;
        Ok(())
    }

    fn answered(&mut self, message: &Value, more: bool) -> Result<()> {
        let id = message["id"].as_u64();
        let Some(asked) = id.and_then(|id| self.open.remove(&id)) else {
            self.counts.wrong.push(message.to_string());
            return Ok(());
        };
        let error = message["error"]["message"].as_str();
        let crashed = format!("the proxy `{}` failed on ", script::CRASHES);
        let refused = error.is_some_and(|error| error.contains(&crashed));
        let Asked::Turn { session, .. } = asked else {
            if !refused {
                self.counts.wrong.push(message.to_string());
            }
            return Ok(());
        };
        let counts = &mut self.counts;
        let stopped = message["result"]["stopReason"].as_str();
        match (stopped, message["error"]["code"].as_i64()) {
            (Some("end_turn"), _) => counts.ended += 1,
            (Some("cancelled"), _) | (_, Some(-32800)) => counts.cancelled += 1,
            _ if refused => counts.refused += 1,
            _ => counts.wrong.push(message.to_string()),
        }
        match more {
            true => self.prompt(session),
            false => Ok(()),
        }
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Turn { session, .. } => write!(f, "a turn of {}", name(*session)),
            Self::Crash => f.write_str(script::CRASH),
        }
    }
}

fn name(session: usize) -> String {
    format!("session-{session}")
}
