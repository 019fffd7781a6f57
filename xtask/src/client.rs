//! The client of the agent trials: it sends requests, answers the agent's, and records what it
//! receives.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use acp_chain_acp::{PERMISSION, UPDATE};
use acp_chain_ends::client::{Services, choose, rejecting};
use acp_chain_ends::{Arrival, End, Request, notification};
use anyhow::Result;
use serde_json::Value;

use crate::host::Host;

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long a waiting client waits for a line before it calls `meanwhile`.
const TICK: Duration = Duration::from_millis(100);

/// Updates that agents send at any time, so that they belong to no step.
const BESIDES: &str = "\
    available_commands_update config_option_update current_mode_update session_info_update usage_update";

/// A connection to an agent, or to acp-chain.
pub struct Client {
    host: Host,
    end: End,
    services: Services,
    /// Every line in both directions.
    log: File,
    heard: ReceivedUpdates,
    /// The session of the last request, if it has one.
    session: Value,
    pub besides: BTreeSet<String>,
    /// How the titles of the questions begin that are answered with a no.
    refused: Option<&'static str>,
    questions: Vec<String>,
}

/// What the client received since the last call of [`Client::heard`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReceivedUpdates {
    /// Kinds of updates, and of requests.
    pub kinds: BTreeSet<String>,
    /// The streamed text.
    pub text: String,
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub enum Answer {
    Result(Value),
    Error(Value),
    /// No answer, and why: the connection ended, or the time ran out.
    None(String),
}

impl Client {
    pub fn new(host: Host, services: Services, log: File) -> Self {
        Self {
            host,
            end: End::default(),
            services,
            log,
            heard: ReceivedUpdates::default(),
            session: Value::Null,
            besides: BTreeSet::new(),
            refused: None,
            questions: Vec::new(),
        }
    }

    /// Answers questions with a no from now on whose titles begin so.
    pub fn refuse(&mut self, begin: &'static str) {
        self.refused = Some(begin);
    }

    /// The titles of the questions that were answered with a no since the last call.
    pub fn refused(&mut self) -> Vec<String> {
        std::mem::take(&mut self.questions)
    }

    /// Sends a request, and handles messages until it is answered.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Answer> {
        self.ask_while(method, params, |_| Ok(()))
    }

    /// Like [`Self::ask`]; also calls `meanwhile` whenever no line arrives for a [`TICK`].
    pub fn ask_while(
        &mut self,
        method: &str,
        params: Value,
        mut meanwhile: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<Answer> {
        self.session = params["sessionId"].clone();
        // A late answer to an earlier request does not answer this one.
        drop(self.end.give_up());
        let request = self.end.request(method, params, ());
        if self.send(&request).is_err() {
            return Ok(Answer::None("the connection ended".into()));
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let line = match self.host.line(TICK) {
                Ok(Some(line)) => line,
                Ok(None) => {
                    meanwhile(self)?;
                    continue;
                }
                Err(_) => return Ok(Answer::None("the connection ended".into())),
            };
            writeln!(self.log, "< {line}")?;
            // Some agents also print text for people.
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            match self.end.take(message) {
                Arrival::Answer((), Ok(result)) => return Ok(Answer::Result(result)),
                Arrival::Answer((), Err(error)) => return Ok(Answer::Error(error)),
                Arrival::Request(request) => self.serve(&request)?,
                Arrival::Notification(method, params) if method == UPDATE => {
                    self.note(&params["update"], &params["sessionId"]);
                }
                Arrival::Notification(method, _) => {
                    self.besides.insert(format!("{method} at any time"));
                }
                Arrival::Stray(_) => {}
            }
        }
        Ok(Answer::None(format!(
            "no answer within {} s",
            PATIENCE.as_secs()
        )))
    }

    pub fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&notification(method, params))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.log, "> {message}")?;
        self.host.send(message)
    }

    /// What was received since the last call.
    pub fn heard(&mut self) -> ReceivedUpdates {
        std::mem::take(&mut self.heard)
    }

    /// The text since the last call of [`Self::heard`].
    pub fn text(&self) -> &str {
        &self.heard.text
    }

    /// Closes the input; returns the exit status if the program ends in time.
    pub fn close(self, patience: Duration) -> Result<Option<ExitStatus>> {
        self.host.close_within(patience)
    }

    fn serve(&mut self, request: &Request) -> Result<()> {
        let kind = format!("asks {}", request.method());
        self.heard.kinds.insert(kind);
        let title = request.params()["toolCall"]["title"].as_str();
        let begin = self.refused.filter(|_| request.method() == PERMISSION);
        let begins_so = |title: &&str| begin.is_some_and(|begin| title.starts_with(begin));
        let Some(question) = title.filter(begins_so) else {
            return self.send(&self.services.serve(request));
        };
        self.questions.push(question.to_owned());
        self.send(&request.respond(choose(rejecting(request.params()))))
    }

    fn note(&mut self, update: &Value, session: &Value) {
        let kind = kind_of(update);
        if *session != self.session && !self.session.is_null() && !is_besides(&kind) {
            self.heard
                .kinds
                .insert(format!("{kind} in another session"));
        } else if is_besides(&kind) {
            self.besides.insert(format!("{kind} at any time"));
        } else {
            self.heard.kinds.insert(kind);
        }
        if update["sessionUpdate"] == "agent_message_chunk" {
            let text = update["content"]["text"].as_str();
            self.heard.text.push_str(text.unwrap_or(""));
        }
    }
}

/// Whether an update of this kind belongs to no step.
pub fn is_besides(kind: &str) -> bool {
    BESIDES.split(' ').any(|name| name == kind)
}

/// The kind of an update, with the kind or the status of a tool call.
pub fn kind_of(update: &Value) -> String {
    let kind = update["sessionUpdate"].as_str().unwrap_or("nothing");
    let more = match kind {
        "tool_call" => &update["kind"],
        "tool_call_update" => &update["status"],
        _ => &Value::Null,
    };
    let more = more.as_str().unwrap_or("");
    format!("{kind} {more}").trim().to_owned()
}
