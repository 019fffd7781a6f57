//! The agent of the demo (`xtask demo-agent`): it asks to edit a file, then leaks a token.

use std::fs::File;
use std::io::{Lines, StdinLock, StdoutLock, Write, stdin, stdout};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::script;
use crate::wire;

const SESSION: &str = "demo";

struct Agent {
    input: Lines<StdinLock<'static>>,
    output: StdoutLock<'static>,
    /// Everything that came, for the demo to judge.
    received: File,
    /// The folder of the session.
    cwd: String,
}

/// Speaks on standard input and output until the input ends.
pub fn run(received: &Path) -> Result<()> {
    let received = File::create(received)
        .with_context(|| format!("{} cannot be written", received.display()))?;
    let mut agent = Agent {
        input: stdin().lines(),
        output: stdout().lock(),
        received,
        cwd: String::new(),
    };
    while let Some(message) = agent.receive()? {
        agent.handle(&message)?;
    }
    Ok(())
}

impl Agent {
    fn receive(&mut self) -> Result<Option<Value>> {
        let Some(line) = self.input.next().transpose()? else {
            return Ok(None);
        };
        writeln!(self.received, "{line}")?;
        Ok(Some(serde_json::from_str(&line)?))
    }

    fn handle(&mut self, message: &Value) -> Result<()> {
        let result = match message["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": 1, "agentCapabilities": {}}),
            Some("session/new") => {
                self.cwd = message["params"]["cwd"].as_str().unwrap_or("/").to_owned();
                json!({"sessionId": SESSION})
            }
            Some("session/prompt") => {
                self.turn()?;
                json!({"stopReason": "end_turn"})
            }
            _ => return Ok(()),
        };
        wire::respond(&mut self.output, &message["id"], &result)
    }

    fn turn(&mut self) -> Result<()> {
        if self.may_edit()? {
            self.say(script::ALLOWED)?;
        } else {
            self.say("I was not allowed to edit.")?;
        }
        for chunk in script::leak() {
            self.say(&chunk)?;
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<()> {
        let content = json!({"type": "text", "text": text});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        let params = json!({"sessionId": SESSION, "update": update});
        wire::notify(&mut self.output, "session/update", &params)
    }

    fn may_edit(&mut self) -> Result<bool> {
        let params = json!({
            "sessionId": SESSION,
            "toolCall": {
                "toolCallId": "edit-1",
                "title": "Edit src/upload.rs",
                "kind": "edit",
                "locations": [{"path": format!("{}/src/upload.rs", self.cwd)}],
            },
            "options": [
                {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            ],
        });
        wire::request(&mut self.output, 0, "session/request_permission", &params)?;
        loop {
            let message = self.receive()?.context("the client has gone")?;
            if let Some(result) = wire::result_of(&message, 0)? {
                return Ok(result["outcome"]["optionId"] == "yes");
            }
        }
    }
}
