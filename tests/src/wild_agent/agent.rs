//! The state of the agent, which handles one line at a time.
//!
//! Like simple agents, it does not read while it writes: a client that does not read blocks it.

use std::collections::VecDeque;
use std::io::{self, Write};

use acp_chain_tests::envelope::{self, Message, quoted};
use serde_json::{Value, json};

use crate::habits::Habits;
use crate::params::{About, Params, told};
use crate::script::{self, Step};

/// An agent that writes to `out`.
pub(crate) struct Agent<W> {
    habits: Habits,
    out: W,
    is_signed_in: bool,
    sessions: u64,
    requests: u64,
    turns: Vec<Turn>,
}

/// A prompt without an answer yet.
struct Turn {
    /// The id of its `session/prompt`, as it was spelt.
    id: String,
    session: String,
    /// The line of its `session/prompt`.
    line: String,
    steps: VecDeque<Step>,
    waiting: Option<AwaitedEvent>,
    answers: usize,
}

/// The event that a turn waits for.
enum AwaitedEvent {
    /// The answer to the turn's request with that id.
    Answer {
        id: String,
        about: About,
    },
    Cancellation,
    Nothing,
}

impl<W: Write> Agent<W> {
    pub(crate) fn new(habits: Habits, out: W) -> Self {
        Self {
            habits,
            out,
            is_signed_in: false,
            sessions: 0,
            requests: 0,
            turns: Vec::new(),
        }
    }

    /// Writes the output that comes before any input is read.
    pub(crate) fn start(&mut self) -> io::Result<()> {
        if self.habits.garbage {
            self.garbage()?;
        }
        Ok(())
    }

    /// Reports that the agent keeps running after the end of its input.
    pub(crate) fn live_on(&mut self) -> io::Result<()> {
        self.write(&envelope::notification("_vendor/still_here", "{}"))
    }

    /// Handles a line of input.
    pub(crate) fn receive(&mut self, line: &str) -> io::Result<()> {
        let Ok(message) = Message::parse(line) else {
            let error = r#"{"code":-32700,"message":"Parse error"}"#;
            return self.answer("null", Err(error));
        };
        let params = Params::of(&message);
        match (&message.method, &message.id) {
            (Some(method), Some(_)) if self.habits.never.contains(method) => Ok(()),
            (Some(method), Some(id)) => self.request(method, id, &params, line),
            (Some(method), None) => self.notification(method, &params),
            (None, Some(id)) => self.response(id, &message),
            (None, None) => Ok(()),
        }
    }

    fn request(&mut self, method: &str, id: &str, params: &Params, line: &str) -> io::Result<()> {
        self.is_signed_in |= method == "authenticate";
        let result = match method {
            "initialize" => self.initialize(),
            "session/new" => return self.new_session(id, line),
            "session/prompt" => {
                let turn = Turn {
                    id: id.to_owned(),
                    session: params.session_id.clone(),
                    line: line.to_owned(),
                    steps: script::steps(params),
                    waiting: None,
                    answers: 1,
                };
                return self.go_on(turn);
            }
            "session/load" if self.habits.replay => {
                self.said("user", &params.session_id, "stored question.")?;
                self.chunk(&params.session_id, "stored answer.")?;
                json!({})
            }
            "session/list" => json!({"sessions": []}),
            "authenticate" | "logout" | "session/load" | "session/resume" | "session/close"
            | "session/set_mode" => json!({}),
            _ => {
                let error =
                    json!({"code": -32601, "message": format!("Method not found: {method}")});
                return self.answer(id, Err(&error.to_string()));
            }
        };
        self.answer(id, Ok(&result.to_string()))
    }

    fn initialize(&self) -> Value {
        let mut result = json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "wild-agent", "version": env!("CARGO_PKG_VERSION")},
        });
        if !self.habits.no_capabilities {
            result["agentCapabilities"] = json!({"loadSession": true});
        }
        if self.habits.login {
            result["authMethods"] = json!([{"type": "terminal", "id": "log-in", "name": "Log in", "args": ["--sign-in"]}]);
        }
        if self.habits.key {
            result["authMethods"] = json!([{"id": "key", "name": "Use a key"}]);
        }
        result
    }

    fn new_session(&mut self, id: &str, line: &str) -> io::Result<()> {
        let needs_key = self.habits.key && !self.is_signed_in;
        if self.habits.login || needs_key {
            let error = r#"{"code":-32000,"message":"Authentication required"}"#;
            return self.answer(id, Err(error));
        }
        self.sessions += 1;
        let session = format!("session-{}", self.sessions);
        if self.habits.early_updates {
            self.chunk(&session, "before the session")?;
            let hello = json!({"sessionId": session});
            self.write(&envelope::notification("_vendor/hello", &hello.to_string()))?;
        }
        self.answer(id, Ok(&json!({"sessionId": session}).to_string()))?;
        if self.habits.show_setup {
            self.chunk(&session, line)?;
        }
        match self.habits.big_update {
            Some(bytes) => self.big_update(&session, bytes),
            None => Ok(()),
        }
    }

    fn notification(&mut self, method: &str, params: &Params) -> io::Result<()> {
        match method {
            "session/cancel" => {
                let result = r#"{"stopReason":"cancelled"}"#;
                for turn in self.cancelled(|turn| turn.session == params.session_id) {
                    self.answer(&turn.id, Ok(result))?;
                }
                Ok(())
            }
            "$/cancel_request" if !self.habits.ignore_cancel => {
                let wanted = params.request_id();
                let report = format!("cancel_request {wanted}");
                let turn = self.turns.iter().find(|turn| turn.id == wanted);
                let session = turn.or(self.turns.last()).map(|turn| turn.session.clone());
                self.chunk(&session.unwrap_or_default(), &report)?;
                let error = r#"{"code":-32800,"message":"Request cancelled"}"#;
                for turn in self.cancelled(|turn| turn.id == wanted) {
                    self.answer(&turn.id, Err(error))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Removes the wanted turns that can be cancelled.
    fn cancelled(&mut self, wanted: impl Fn(&Turn) -> bool) -> Vec<Turn> {
        let gone =
            |turn: &mut Turn| wanted(turn) && !matches!(turn.waiting, Some(AwaitedEvent::Nothing));
        self.turns.extract_if(.., gone).collect()
    }

    fn response(&mut self, id: &str, message: &Message) -> io::Result<()> {
        let awaited = |turn: &Turn| matches!(&turn.waiting, Some(AwaitedEvent::Answer { id: awaited, .. }) if awaited == id);
        let Some(at) = self.turns.iter().position(awaited) else {
            return Ok(());
        };
        let mut turn = self.turns.remove(at);
        if let Some(AwaitedEvent::Answer { about, .. }) = turn.waiting.take() {
            self.chunk(&turn.session, &told(about, message))?;
        }
        self.go_on(turn)
    }

    /// Executes a turn's steps, until the turn ends or has to wait.
    fn go_on(&mut self, mut turn: Turn) -> io::Result<()> {
        let mut outcome = Ok(r#"{"stopReason":"end_turn"}"#.to_owned());
        while let Some(step) = turn.steps.pop_front() {
            turn.waiting = match step {
                Step::Stop(result) => {
                    outcome = Ok(result);
                    break;
                }
                Step::Fail(error) => {
                    outcome = Err(error);
                    break;
                }
                Step::Bulk(bytes) => {
                    let line = |padding: &str| {
                        format!(r#"{{"stopReason":"end_turn","_meta":{{"padding":"{padding}"}}}}"#)
                    };
                    let padding = "x".repeat(bytes.saturating_sub(line("").len()));
                    outcome = Ok(line(&padding));
                    break;
                }
                Step::Raw { text, utf8 } => {
                    self.raw(&text.replace("{id}", &turn.id), utf8)?;
                    None
                }
                Step::Twice => {
                    turn.answers = 2;
                    None
                }
                Step::Wait => Some(AwaitedEvent::Cancellation),
                Step::Never => Some(AwaitedEvent::Nothing),
                Step::Show => {
                    self.chunk(&turn.session, &turn.line)?;
                    None
                }
                step => self.act(&turn.session, step)?,
            };
            if turn.waiting.is_some() {
                self.turns.push(turn);
                return Ok(());
            }
        }
        let outcome = outcome.as_deref().map_err(String::as_str);
        (0..turn.answers).try_for_each(|_| self.answer(&turn.id, outcome))
    }

    /// Executes a step that needs only the turn's session.
    fn act(&mut self, session: &str, step: Step) -> io::Result<Option<AwaitedEvent>> {
        match step {
            Step::Repeat(text) => {
                for part in thirds(&text) {
                    self.chunk(session, part)?;
                }
            }
            Step::Echo(text) => self.chunk(session, &text)?,
            Step::Stream(count, text) => {
                for number in 0..count {
                    self.chunk(session, &format!("{text} {number}"))?;
                }
            }
            Step::Update(update) => self.update(session, &update)?,
            Step::Line(bytes) => self.big_update(session, bytes)?,
            Step::Garbage => self.garbage()?,
            Step::Stderr(bytes) => crate::noise(bytes)?,
            Step::Read(path) => {
                let params = json!({"sessionId": session, "path": path}).to_string();
                return self
                    .ask("fs/read_text_file", &params, About::File)
                    .map(Some);
            }
            Step::Permission { kind, title, path } => {
                let params = permission(session, &kind, &title, &path).to_string();
                let method = "session/request_permission";
                return self.ask(method, &params, About::Permission).map(Some);
            }
            Step::Ask {
                method,
                params,
                withdrawn,
            } => {
                let waiting = self.ask(&method, &params, About::Anything)?;
                if let (true, AwaitedEvent::Answer { id, .. }) = (withdrawn, &waiting) {
                    let params = format!(r#"{{"requestId":{id}}}"#);
                    self.write(&envelope::notification("$/cancel_request", &params))?;
                }
                return Ok(Some(waiting));
            }
            Step::Tell { method, params } => {
                self.write(&envelope::notification(&method, &params))?;
            }
            Step::Unknown => self.answer(r#""an-id-that-nobody-used""#, Ok("{}"))?,
            Step::Exit(code) => std::process::exit(code),
            Step::Abort => std::process::abort(),
            Step::Show
            | Step::Stop(_)
            | Step::Fail(_)
            | Step::Bulk(_)
            | Step::Raw { .. }
            | Step::Wait
            | Step::Never
            | Step::Twice => {}
        }
        Ok(None)
    }

    fn ask(&mut self, method: &str, params: &str, about: About) -> io::Result<AwaitedEvent> {
        let id = self.habits.ids.id(self.requests);
        self.requests += 1;
        self.write(&envelope::request(&id, method, params))?;
        Ok(AwaitedEvent::Answer { id, about })
    }

    fn answer(&mut self, id: &str, outcome: Result<&str, &str>) -> io::Result<()> {
        let line = match outcome {
            Ok(result) if self.habits.result_first => {
                format!(r#"{{"result":{result},"id":{id},"jsonrpc":"2.0"}}"#)
            }
            Err(error) if self.habits.result_first => {
                format!(r#"{{"error":{error},"id":{id},"jsonrpc":"2.0"}}"#)
            }
            Ok(result) => envelope::result(id, result),
            Err(error) => envelope::error(id, error),
        };
        self.write(&line)
    }

    fn chunk(&mut self, session: &str, text: &str) -> io::Result<()> {
        self.said("agent", session, text)
    }

    fn said(&mut self, who: &str, session: &str, text: &str) -> io::Result<()> {
        let text = quoted(text);
        let update = format!(
            r#"{{"sessionUpdate":"{who}_message_chunk","content":{{"type":"text","text":{text}}}}}"#
        );
        self.update(session, &update)
    }

    fn update(&mut self, session: &str, update: &str) -> io::Result<()> {
        let session = quoted(session);
        let params = format!(r#"{{"sessionId":{session},"update":{update}}}"#);
        self.write(&envelope::notification("session/update", &params))
    }

    /// Sends an update whose line has that many bytes without its line feed, or the fewest possible.
    fn big_update(&mut self, session: &str, bytes: usize) -> io::Result<()> {
        let line = |padding: &str| {
            let update = json!({
                "sessionUpdate": "available_commands_update",
                "availableCommands": [],
                "_meta": {"padding": padding},
            });
            let params = json!({"sessionId": session, "update": update});
            envelope::notification("session/update", &params.to_string())
        };
        let padding = "x".repeat(bytes.saturating_sub(line("").len()));
        self.write(&line(&padding))
    }

    fn garbage(&mut self) -> io::Result<()> {
        self.write("Welcome to wild-agent! {not json")
    }

    /// Writes a line in UTF-8, or in Latin-1, which has only the first 256 characters.
    fn raw(&mut self, text: &str, utf8: bool) -> io::Result<()> {
        if utf8 {
            return self.write(text);
        }
        let latin1 = text.chars().map(|char| u8::try_from(char).unwrap_or(b'?'));
        self.write_bytes(&latin1.collect::<Vec<_>>())
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        self.write_bytes(line.as_bytes())
    }

    fn write_bytes(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

fn permission(session: &str, kind: &str, title: &str, path: &str) -> Value {
    json!({
        "sessionId": session,
        "toolCall": {
            "toolCallId": "call-1",
            "title": title,
            "kind": kind,
            "status": "pending",
            "locations": [{"path": path}],
            "rawInput": {"path": path},
        },
        "options": [
            {"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
            {"optionId": "reject-always", "name": "Always reject", "kind": "reject_always"},
        ],
    })
}

/// Splits a text into up to three parts.
fn thirds(text: &str) -> Vec<&str> {
    let third = text.ceil_char_boundary(text.len().div_ceil(3));
    let (first, rest) = text.split_at(third);
    let (second, last) = rest.split_at(rest.ceil_char_boundary(rest.len().div_ceil(2)));
    let mut parts = vec![first, second, last];
    parts.retain(|part| !part.is_empty());
    parts
}
