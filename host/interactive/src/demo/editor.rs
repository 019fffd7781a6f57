//! The editor of the demo. Its user allows everything that they are asked.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use acp_chain_acp::{PERMISSION, UPDATE};
use acp_chain_ends::client::Services;
use acp_chain_ends::{Arrival, End, Request};
use acp_chain_picture::text_of;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use serde_json::Value;

use crate::{Error, Result};

/// What the user saw of a turn.
#[derive(Debug, Default)]
pub struct UserView {
    /// The agent's message.
    pub message: String,
    /// The texts of other updates.
    pub updates: Vec<String>,
    /// Whether a permission was asked for.
    pub was_asked: bool,
}

pub struct Editor {
    chain: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    end: End,
    services: Services,
    seen: UserView,
    /// Every line that arrived.
    received: String,
}

impl Editor {
    /// Starts the chain.
    pub fn launch(command: &mut Command, services: Services) -> Result<Self> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut chain = started.map_err(Error::io("the chain cannot be started"))?;
        let without = |what: &str| Error::Demo(format!("the chain has no {what}"));
        let input = chain.stdin.take().ok_or_else(|| without("input"))?;
        let output = chain.stdout.take().ok_or_else(|| without("output"))?;
        Ok(Self {
            chain,
            input,
            lines: BufReader::new(output).lines(),
            end: End::default(),
            services,
            seen: UserView::default(),
            received: String::new(),
        })
    }

    /// Sends a request, and serves the agent until the result arrives. An error is one of the demo.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let request = self.end.request(method, params, ());
        self.send(&request)?;
        while let Some(line) = self.lines.next() {
            let line = line.map_err(Error::io("the chain cannot be read"))?;
            self.received.push_str(&line);
            self.received.push('\n');
            let message = serde_json::from_str(&line).map_err(|error| {
                Error::Demo(format!("the chain sent what is no message: {error}"))
            })?;
            match self.end.take(message) {
                Arrival::Answer((), Ok(result)) => return Ok(result),
                Arrival::Answer((), Err(error)) => {
                    let why = error["message"].as_str().unwrap_or("no reason is given");
                    let why = why.strip_prefix("acp-chain: ").unwrap_or(why);
                    return Err(Error::Demo(quote(why, 4 * MAX_QUOTE)));
                }
                Arrival::Request(request) => self.serve(&request)?,
                Arrival::Notification(method, params) if method == UPDATE => {
                    self.seen.note(&params);
                }
                Arrival::Notification(..) | Arrival::Stray(_) => {}
            }
        }
        Err(Error::Demo(
            "the chain has ended before the demo".to_owned(),
        ))
    }

    /// What the user saw since the last call.
    pub fn seen(&mut self) -> UserView {
        std::mem::take(&mut self.seen)
    }

    /// Ends the connection as editors do. Returns every line that arrived.
    pub fn close(self) -> Result<String> {
        let Self {
            mut chain,
            input,
            lines,
            received,
            ..
        } = self;
        // With its output closed as well, it cannot wait for a reader.
        drop((input, lines));
        let ended = chain.wait();
        ended.map_err(Error::io("the chain does not end"))?;
        Ok(received)
    }

    fn serve(&mut self, request: &Request) -> Result<()> {
        self.seen.was_asked |= request.method() == PERMISSION;
        let answer = self.services.serve(request);
        self.send(&answer)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let sent = writeln!(self.input, "{message}").and_then(|()| self.input.flush());
        sent.map_err(Error::io("the chain has ended before the demo"))
    }
}

impl UserView {
    fn note(&mut self, params: &Value) {
        let text = text_of(UPDATE, params);
        if params["update"]["sessionUpdate"] == "agent_message_chunk" {
            self.message.push_str(&text);
        } else {
            self.updates.push(text);
        }
    }
}
