//! The client of all measurements.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use memchr::memmem::{self, Finder};
use serde_json::{Value, json};

use crate::agent::words;
use crate::lines::Lines;

/// Occurs in the answer to a prompt, and nowhere else.
const ANSWER: &[u8] = b"\"stopReason\"";

/// Longer lines are not answers.
const SHORT: usize = 512;

/// A client, with a connection to its subject.
#[derive(Debug)]
pub struct Client<R, W> {
    output: Lines<R>,
    input: W,
    answer: Finder<'static>,
    requests: u64,
    sessions: Vec<String>,
    /// The session that is next.
    turn: usize,
}

impl<R: Read, W: Write> Client<R, W> {
    /// A client on this connection.
    pub fn new(output: R, input: W) -> Self {
        Self {
            output: Lines::new(output),
            input,
            answer: Finder::new(ANSWER),
            requests: 0,
            sessions: Vec::new(),
            turn: 0,
        }
    }

    /// Sends `initialize`, and waits for the answer.
    ///
    /// # Errors
    /// If there is none.
    pub fn initialize(&mut self) -> Result<()> {
        let params = r#"{"protocolVersion":1,"clientCapabilities":{}}"#;
        self.ask("initialize", params)?;
        self.result("protocolVersion").map(drop)
    }

    /// Opens a session in a folder; prompts alternate between the sessions.
    ///
    /// # Errors
    /// If there is none.
    pub fn open_session(&mut self, cwd: &Path) -> Result<()> {
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        self.ask("session/new", &params.to_string())?;
        let answer = self.result("sessionId")?;
        let (_, rest) = answer.split_once("\"sessionId\":\"").unwrap_or_default();
        let (session, _) = rest.split_once('"').context("the session has no name")?;
        self.sessions.push(session.to_owned());
        Ok(())
    }

    /// The time of a prompt with a text of about this many bytes, and its answer.
    ///
    /// # Errors
    /// If there is none.
    pub fn ping(&mut self, size: usize) -> Result<Duration> {
        let text = [&b"ping "[..], &words(size)].concat();
        let prompt = self.prompt(&text);
        let begin = Instant::now();
        self.input.write_all(&prompt)?;
        self.answer()?;
        Ok(begin.elapsed())
    }

    /// The milliseconds that a process of the agent's hooks took, at this place in [`STARTS`](crate::hooks::STARTS).
    ///
    /// # Errors
    /// If it did not end as it should.
    pub fn hook(&mut self, place: usize) -> Result<f64> {
        let prompt = self.prompt(format!("hook {place}").as_bytes());
        self.input.write_all(&prompt)?;
        let answer: Value = serde_json::from_str(&self.result("stopReason")?)?;
        let took = answer["result"]["_meta"]["ms"].as_f64();
        took.context("the answer has no time")
    }

    /// The time until this many updates, with a text of this many bytes each, and the end of their turn have arrived.
    ///
    /// # Errors
    /// If there are others, or the turn does not end.
    pub fn burst(&mut self, count: usize, size: usize) -> Result<Duration> {
        let prompt = self.prompt(format!("burst {count} {size}").as_bytes());
        let begin = Instant::now();
        self.input.write_all(&prompt)?;
        let updates = self.answer()?;
        let took = begin.elapsed();
        // A proxy that holds chunks back may change their number.
        let all = updates.abs_diff(count) <= 2;
        ensure!(all, "{updates} updates arrived, not {count}");
        Ok(took)
    }

    /// Requests a burst, and leaves reading to the caller.
    ///
    /// # Errors
    /// If the prompt cannot be written.
    pub fn begin_burst(&mut self, count: usize, size: usize) -> Result<&mut impl Read> {
        let prompt = self.prompt(format!("burst {count} {size}").as_bytes());
        self.input.write_all(&prompt)?;
        Ok(self.output.stream())
    }

    fn ask(&mut self, method: &str, params: &str) -> Result<()> {
        self.requests += 1;
        let id = self.requests;
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        Ok(self.input.write_all(line.as_bytes())?)
    }

    /// The next message that contains this. Others are ignored.
    fn result(&mut self, field: &str) -> Result<String> {
        loop {
            let line = self.output.next_line()?.context("it has ended")?;
            let line = String::from_utf8_lossy(line);
            ensure!(!line.contains("\"error\":"), "error: {line}");
            if line.contains(field) {
                return Ok(line.into_owned());
            }
        }
    }

    /// Waits for the end of a turn; returns the number of messages before it.
    fn answer(&mut self) -> Result<usize> {
        let mut others = 0;
        loop {
            let line = self.output.next_line()?.context("it has ended")?;
            if line.len() < SHORT {
                if self.answer.find(line).is_some() {
                    return Ok(others);
                }
                let failed = memmem::find(line, b"\"error\":").is_some();
                ensure!(!failed, "error: {}", String::from_utf8_lossy(line));
            }
            others += 1;
        }
    }

    /// A prompt in the next session.
    fn prompt(&mut self, text: &[u8]) -> Vec<u8> {
        self.requests += 1;
        self.turn = (self.turn + 1) % self.sessions.len().max(1);
        let session = self.sessions.get(self.turn).map_or("", String::as_str);
        let head = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\"prompt\":[{{\"type\":\"text\",\"text\":\"",
            self.requests
        );
        [head.as_bytes(), text, b"\"}]}}\n"].concat()
    }
}
