//! The client of the demo: an editor that asks one question, and serves the project's files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{script, wire};

/// Longer than anything here takes, compiling the components the first time included.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the client got to see.
#[derive(Default)]
pub struct Heard {
    /// Every line.
    pub everything: String,
    /// The text that was streamed.
    pub text: String,
    /// How often the user would have been asked.
    pub permissions_asked: usize,
    /// How the turn ended.
    pub stop_reason: String,
}

struct Client {
    host: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    requests: u64,
    heard: Heard,
}

/// Launches the host as an editor would, plays the turn, and closes.
pub fn play(command: &[String], project: &Path) -> Result<Heard> {
    let mut client = Client::launch(command)?;
    let files = json!({"readTextFile": true, "writeTextFile": false});
    let params = json!({"protocolVersion": 1, "clientCapabilities": {"fs": files}});
    client.ask("initialize", &params)?;
    let session = client.ask("session/new", &json!({"cwd": project, "mcpServers": []}))?;
    let prompt = json!([{"type": "text", "text": script::prompt()}]);
    let params = json!({"sessionId": session["sessionId"], "prompt": prompt});
    let answer = client.ask("session/prompt", &params)?;
    client.heard.stop_reason = answer["stopReason"].as_str().unwrap_or("").to_owned();
    client.close()
}

impl Client {
    fn launch(command: &[String]) -> Result<Self> {
        let (program, args) = command.split_first().context("no command")?;
        let mut host = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{program} cannot be started"))?;
        let input = host.stdin.take().context("no input")?;
        let output = BufReader::new(host.stdout.take().context("no output")?);
        let (sender, lines) = channel();
        // In a thread of its own, so that waiting for a line can be given up.
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            host,
            input,
            lines,
            requests: 0,
            heard: Heard::default(),
        })
    }

    /// Sends a request, and serves whatever comes until it is answered.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        wire::request(&mut self.input, id, method, params)?;
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.with_context(|| format!("acp-chain does not answer {method}"))?;
            let message: Value = serde_json::from_str(&line)?;
            self.heard.everything.push_str(&line);
            match wire::result_of(&message, id)? {
                Some(result) => return Ok(result),
                None => self.serve(&message)?,
            }
        }
    }

    fn serve(&mut self, message: &Value) -> Result<()> {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("session/update") => {
                let text = params["update"]["content"]["text"].as_str();
                self.heard.text.push_str(text.unwrap_or(""));
                Ok(())
            }
            Some("fs/read_text_file") => {
                let path = params["path"].as_str().unwrap_or("");
                match fs::read_to_string(path) {
                    Ok(content) => {
                        let content = json!({"content": content});
                        wire::respond(&mut self.input, &message["id"], &content)
                    }
                    Err(error) => {
                        wire::refuse(&mut self.input, &message["id"], &format!("{path}: {error}"))
                    }
                }
            }
            Some("session/request_permission") => {
                self.heard.permissions_asked += 1;
                let cancelled = json!({"outcome": {"outcome": "cancelled"}});
                wire::respond(&mut self.input, &message["id"], &cancelled)
            }
            _ => Ok(()),
        }
    }

    /// Ends the connection as editors do, by closing the input.
    fn close(mut self) -> Result<Heard> {
        let heard = std::mem::take(&mut self.heard);
        drop(self.input);
        self.host.wait()?;
        Ok(heard)
    }
}
