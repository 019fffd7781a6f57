//! The editor of the self-test: it launches a chain, and takes turns. It waits for nothing longer than [`PATIENCE`], and
//! the chain has ended when it is dropped.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use acp_chain_acp::{INITIALIZE, NEW, PROMPT, UPDATE};
use acp_chain_ends::client::{Services, new_session, prompt};
use acp_chain_ends::{Arrival, End, Outcome};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use serde_json::Value;

use crate::stage::Stage;
use crate::{PATIENCE, Reason};

pub struct Editor<'s> {
    stage: &'s Stage,
    chain: Child,
    /// `None` once it is closed.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    end: End,
    services: Services,
    session: Value,
    /// The texts of the turn.
    said: String,
}

impl<'s> Editor<'s> {
    /// Launches the chain, and begins a session. Others of the user may watch the chain if it is live.
    pub fn launch(stage: &'s Stage, is_live: bool) -> Result<Self, Reason> {
        let mut command = stage.chain();
        command.env("ACP_CHAIN_LIVE", if is_live { "1" } else { "0" });
        let started = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut chain = started.map_err(|error| format!("the chain cannot be started: {error}"))?;
        let input = chain.stdin.take();
        let output = chain.stdout.take().ok_or("the chain has no output")?;
        let mut editor = Self {
            stage,
            chain,
            input,
            lines: lines(output),
            end: End::default(),
            services: Services::new(None, "the editor of the self-test does not support this"),
            session: Value::Null,
            said: String::new(),
        };
        let initialize = editor.services.initialize();
        editor.succeed(INITIALIZE, initialize)?;
        let session = editor.succeed(NEW, new_session(&stage.project()))?;
        editor.session = session["sessionId"].clone();
        Ok(editor)
    }

    /// The id of the chain's process.
    pub fn id(&self) -> u32 {
        self.chain.id()
    }

    /// Takes a turn that must succeed. Returns the texts of the agent, and those of the chain.
    pub fn turn(&mut self, text: &str) -> Result<String, Reason> {
        let prompt = prompt(&self.session, text);
        self.succeed(PROMPT, prompt)?;
        Ok(std::mem::take(&mut self.said))
    }

    /// Takes a turn that must fail. Returns the error.
    pub fn failed_turn(&mut self, text: &str) -> Result<String, Reason> {
        let prompt = prompt(&self.session, text);
        match self.ask(PROMPT, prompt)? {
            Err(error) => Ok(message(&error)),
            Ok(_) => Err(Reason::Broken(
                "the prompt on which the component breaks was answered as if nothing were"
                    .to_owned(),
            )),
        }
    }

    /// Kills the chain, as editors do.
    pub fn kill(&mut self) -> Result<(), Reason> {
        let killed = self.chain.kill().and_then(|()| self.chain.wait());
        killed.map_err(|error| format!("the chain cannot be killed: {error}"))?;
        Ok(())
    }

    /// Disconnects. The chain must end, and with success.
    pub fn close(mut self) -> Result<(), Reason> {
        self.input = None;
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(_) => {}
                // Its output is closed.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.broken("the chain does not end when its editor disconnects"));
                }
            }
        }
        match self.chain.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.broken(&format!("the chain ended with {status}"))),
            Err(error) => Err(self.broken(&format!("the chain cannot be waited for: {error}"))),
        }
    }

    /// Sends a request whose answer must be a result.
    fn succeed(&mut self, method: &str, params: Value) -> Result<Value, Reason> {
        self.ask(method, params)?
            .map_err(|error| self.broken(&format!("`{method}` failed: {}", message(&error))))
    }

    /// Sends a request, and serves the agent until the answer arrives.
    fn ask(&mut self, method: &str, params: Value) -> Result<Outcome, Reason> {
        let request = self.end.request(method, params, ());
        self.send(&request)?;
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(
                        self.broken(&format!("the chain ended before it answered `{method}`"))
                    );
                }
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = PATIENCE.as_secs();
                    return Err(
                        self.broken(&format!("`{method}` was not answered within {seconds} s"))
                    );
                }
            };
            let read = serde_json::from_str(&line);
            let read =
                read.map_err(|error| format!("the chain sent what is no message: {error}"))?;
            match self.end.take(read) {
                Arrival::Answer((), outcome) => return Ok(outcome),
                Arrival::Request(request) => {
                    let answer = self.services.serve(&request);
                    self.send(&answer)?;
                }
                Arrival::Notification(method, params) if method == UPDATE => {
                    let text = params["update"]["content"]["text"].as_str();
                    self.said.push_str(text.unwrap_or_default());
                }
                Arrival::Notification(..) | Arrival::Stray(_) => {}
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Reason> {
        let input = self.input.as_mut().ok_or("the chain has no input")?;
        let sent = writeln!(input, "{message}").and_then(|()| input.flush());
        sent.map_err(|error| self.broken(&format!("the chain does not read: {error}")))
    }

    /// A broken promise, with the last words of the log.
    fn broken(&self, why: &str) -> Reason {
        Reason::Broken(format!("{why}{}", self.stage.last_words()))
    }
}

impl Drop for Editor<'_> {
    fn drop(&mut self) {
        // It has ended unless something failed.
        let _ = self.chain.kill();
        let _ = self.chain.wait();
    }
}

/// The message of an error.
fn message(error: &Value) -> String {
    let text = error["message"].as_str().unwrap_or("no reason is given");
    quote(text, 4 * MAX_QUOTE)
}

/// The lines of an output, read on a thread of their own, so that waiting for one can end.
pub fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}
