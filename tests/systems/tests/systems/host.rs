//! `acp-chain run` as an editor launches it, with the test as its client.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use acp_chain_ends::{Arrival, End, Outcome};
use serde_json::{Value, json};

use crate::user::User;
use crate::witness::{PATIENCE, within};

pub struct Host {
    child: Option<Child>,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    end: End,
    session: Value,
    /// The text of the agent since the last request.
    said: String,
    /// All that was received, and the log, for the message of a failure.
    received: String,
    log: PathBuf,
}

impl Host {
    /// Starts a command, whose standard error goes to a file beside the log.
    pub fn start(user: &User, command: &mut Command) -> Self {
        let errors = fs::File::create(user.path("errors")).unwrap();
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut lines = output.lines().map_while(Result::ok);
            lines.all(|line| sender.send(line).is_ok());
        });
        Self {
            input: child.stdin.take(),
            child: Some(child),
            lines,
            end: End::default(),
            session: Value::Null,
            said: String::new(),
            received: String::new(),
            log: user.path("log"),
        }
    }

    /// Sends a request, and receives messages until it is answered. Only updates of sessions are expected meanwhile.
    pub fn ask(&mut self, method: &str, params: Value) -> Outcome {
        self.said.clear();
        let request = self.end.request(method, params, ());
        let sent = self
            .input
            .as_mut()
            .map(|input| writeln!(input, "{request}"));
        assert!(matches!(sent, Some(Ok(()))), "{method} is not sent: {self}");
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("{method} is not answered: {self}"));
            let _ = writeln!(self.received, "{line}");
            let message = serde_json::from_str(&line);
            let message = message.unwrap_or_else(|error| panic!("{error}: {self}"));
            match self.end.take(message) {
                Arrival::Answer((), outcome) => return outcome,
                Arrival::Notification(_, params) => {
                    // What the host says for itself is named so.
                    let update = &params["update"];
                    let id = update["messageId"].as_str().unwrap_or_default();
                    if !id.starts_with("acp-chain-") {
                        let text = update["content"]["text"].as_str();
                        self.said.push_str(text.unwrap_or_default());
                    }
                }
                other => panic!("{other:?} is not expected: {self}"),
            }
        }
    }

    /// Like [`ask`](Self::ask), of what must succeed.
    pub fn gets(&mut self, method: &str, params: Value) -> Value {
        let outcome = self.ask(method, params);
        outcome.unwrap_or_else(|error| panic!("{method}: {error}: {self}"))
    }

    /// Begins a connection and a session in this folder.
    pub fn open(&mut self, folder: &Path) {
        let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        self.gets("initialize", params);
        let params = json!({ "cwd": folder.to_str().unwrap(), "mcpServers": [] });
        self.session = self.gets("session/new", params)["sessionId"].take();
    }

    /// Sends a prompt, and waits for the end of the turn.
    pub fn prompt(&mut self, text: &str) -> Outcome {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.ask("session/prompt", params)
    }

    /// The text with which the agent answers a prompt.
    pub fn turn(&mut self, text: &str) -> String {
        let ended = self.prompt(text);
        let is_ended = matches!(&ended, Ok(result) if result["stopReason"] == "end_turn");
        assert!(is_ended, "{ended:?}: {self}");
        std::mem::take(&mut self.said)
    }

    /// Closes the connection, as editors do, and waits for the end of the program.
    pub fn close(mut self) -> ExitStatus {
        self.input = None;
        let child = self.child.take();
        within("the end of the program", move || {
            child.unwrap().wait().unwrap()
        })
    }

    /// Kills the program, and nothing else.
    pub fn kill(mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let errors = read(&self.log.with_file_name("errors"));
        let (received, log) = (&self.received, read(&self.log));
        write!(f, "received:\n{received}\nerrors:\n{errors}\nlog:\n{log}")
    }
}

impl Drop for Host {
    /// After a failure, nothing is left.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
