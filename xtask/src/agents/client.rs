//! The client of the trials: it asks, allows whatever it is asked for, and notes what kinds of things it is told.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::host::Host;
use crate::wire;

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// How often a client that waits looks at other things.
const TICK: Duration = Duration::from_millis(100);

/// Updates that agents send when they like, so that they belong to no step.
const BESIDES: [&str; 5] = [
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "usage_update",
];

/// A connection to an agent, or to acp-chain.
pub struct Client {
    host: Host,
    requests: u64,
    /// Every line of both directions.
    log: File,
    heard: Heard,
    /// The session that the last request was about, if it was about one.
    session: Value,
    besides: BTreeSet<String>,
}

/// What the client was told meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// Kinds of updates, and of requests.
    pub kinds: BTreeSet<String>,
    /// The text that was streamed.
    pub text: String,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub enum Answer {
    Result(Value),
    Error(Value),
    /// The connection has ended, or it took too long.
    None(String),
}

impl Client {
    pub fn start(command: &mut Command, log: File, errors: File) -> Result<Self> {
        Ok(Self {
            host: Host::start(command.stderr(errors))?,
            requests: 0,
            log,
            heard: Heard::default(),
            session: Value::Null,
            besides: BTreeSet::new(),
        })
    }

    /// Sends a request, and serves whatever comes until it is answered.
    pub fn ask(&mut self, method: &str, params: &Value) -> Result<Answer> {
        self.ask_while(method, params, |_| Ok(()))
    }

    /// The same, and does something now and then.
    pub fn ask_while(
        &mut self,
        method: &str,
        params: &Value,
        mut meanwhile: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<Answer> {
        self.requests += 1;
        let id = self.requests;
        self.session = params["sessionId"].clone();
        writeln!(
            self.log,
            "> {}",
            json!({"id": id, "method": method, "params": params})
        )?;
        if wire::request(&mut self.host.input, id, method, params).is_err() {
            return Ok(Answer::None("it has ended".into()));
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let line = match self.host.line(TICK) {
                Ok(Some(line)) => line,
                Ok(None) => {
                    meanwhile(self)?;
                    continue;
                }
                Err(_) => return Ok(Answer::None("it has ended".into())),
            };
            writeln!(self.log, "< {line}")?;
            // Some print what is for people.
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message["id"] != id || message.get("method").is_some() {
                self.serve(&message)?;
                continue;
            }
            return Ok(match message.get("error") {
                Some(error) => Answer::Error(error.clone()),
                None => Answer::Result(message["result"].clone()),
            });
        }
        Ok(Answer::None(format!(
            "no answer within {} s",
            PATIENCE.as_secs()
        )))
    }

    pub fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        writeln!(
            self.log,
            "> {}",
            json!({"method": method, "params": params})
        )?;
        wire::notify(&mut self.host.input, method, params)
    }

    /// What was told since this was last called.
    pub fn heard(&mut self) -> Heard {
        std::mem::take(&mut self.heard)
    }

    /// What was told that belongs to no step.
    pub fn besides(&self) -> BTreeSet<String> {
        self.besides.clone()
    }

    /// The text since then.
    pub fn text(&self) -> &str {
        &self.heard.text
    }

    /// Closes the input; how the program has ended, if it does.
    pub fn close(self, patience: Duration) -> Result<Option<std::process::ExitStatus>> {
        self.host.close_within(patience)
    }

    fn serve(&mut self, message: &Value) -> Result<()> {
        let Some(method) = message["method"].as_str() else {
            return Ok(());
        };
        let params = &message["params"];
        if method == "session/update" {
            self.note(&params["update"], &params["sessionId"]);
            return Ok(());
        }
        let Some(id) = message.get("id") else {
            self.besides.insert(format!("{method} at any time"));
            return Ok(());
        };
        self.heard.kinds.insert(format!("asks {method}"));
        if method != "session/request_permission" {
            return wire::refuse(&mut self.host.input, id, "the client does not do this");
        }
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": allowing(params)}});
        writeln!(self.log, "> {}", json!({"id": id, "result": outcome}))?;
        wire::respond(&mut self.host.input, id, &outcome)
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
    BESIDES.contains(&kind)
}

/// The kind of an update: with it, that of a tool, or how far its call is.
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

/// The option that allows what is asked, this time rather than always.
fn allowing(params: &Value) -> Value {
    let options = params["options"].as_array();
    let of_kind = |kind: &str| options?.iter().find(|option| option["kind"] == kind);
    let option = of_kind("allow_once").or_else(|| of_kind("allow_always"));
    option.map_or(Value::Null, |option| option["optionId"].clone())
}
