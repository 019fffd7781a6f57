//! The client of the demo: an editor that asks one question, and serves the project's files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::script;
use crate::host::Host;
use crate::wire;

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
    host: Host,
    requests: u64,
    heard: Heard,
}

/// Launches the host as an editor would, plays the turn, and closes.
pub fn play(command: &[String], project: &Path) -> Result<Heard> {
    let mut client = Client {
        host: Host::launch(command)?,
        requests: 0,
        heard: Heard::default(),
    };
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
    /// Sends a request, and serves whatever comes until it is answered.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        wire::request(&mut self.host.input, id, method, params)?;
        loop {
            let line = self.host.line(PATIENCE)?;
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
                        wire::respond(&mut self.host.input, &message["id"], &content)
                    }
                    Err(error) => wire::refuse(
                        &mut self.host.input,
                        &message["id"],
                        &format!("{path}: {error}"),
                    ),
                }
            }
            Some("session/request_permission") => {
                self.heard.permissions_asked += 1;
                let cancelled = json!({"outcome": {"outcome": "cancelled"}});
                wire::respond(&mut self.host.input, &message["id"], &cancelled)
            }
            _ => Ok(()),
        }
    }

    fn close(self) -> Result<Heard> {
        self.host.close()?;
        Ok(self.heard)
    }
}
