//! A scripted agent: for each prompt, it sends a permission request, and then a message.

use acp_chain_acp::{INITIALIZE, NEW, PERMISSION, PROMPT, UPDATE, code};
use serde_json::{Value, json};

use crate::{Arrival, End, Request, notification};

/// The id of every session.
const SESSION: &str = "played";

/// The id of the option that allows.
const ALLOW: &str = "allow";

/// The script of an agent.
pub trait Script {
    /// The error message for an unsupported method.
    const UNKNOWN: &'static str;

    /// The updates that begin a turn.
    fn begin(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The tool call of the permission request in the turn of this prompt. `folder` is the session's `cwd`.
    fn call(&self, prompt: &Value, folder: &str) -> Value;

    /// The message chunks after the permission is decided.
    fn say(&self, prompt: &Value, is_allowed: bool) -> Vec<String>;
}

/// A scripted agent. It keeps the prompts whose permission is not decided yet.
#[derive(Debug, Default)]
pub struct Agent<S> {
    script: S,
    /// The `cwd` of the last session.
    folder: String,
    end: End<Request>,
}

impl<S: Script> Agent<S> {
    /// Handles a message. Returns the agent's messages, in order.
    pub fn take(&mut self, message: Value) -> Vec<Value> {
        match self.end.take(message) {
            Arrival::Request(request) => self.serve(request),
            Arrival::Answer(prompt, outcome) => {
                let is_allowed = outcome.is_ok_and(|it| it["outcome"]["optionId"] == ALLOW);
                let chunks = self.script.say(&prompt.params()["prompt"], is_allowed);
                let mut said: Vec<_> = chunks.into_iter().map(chunk).collect();
                said.push(prompt.respond(json!({ "stopReason": "end_turn" })));
                said
            }
            Arrival::Notification(..) | Arrival::Stray(_) => Vec::new(),
        }
    }

    fn serve(&mut self, request: Request) -> Vec<Value> {
        vec![match request.method() {
            INITIALIZE => request.respond(json!({ "protocolVersion": 1, "agentCapabilities": {} })),
            NEW => {
                let folder = request.params()["cwd"].as_str();
                self.folder = folder.unwrap_or("/").to_owned();
                request.respond(json!({ "sessionId": SESSION }))
            }
            PROMPT => {
                let params = json!({
                    "sessionId": SESSION,
                    "toolCall": self.script.call(&request.params()["prompt"], &self.folder),
                    "options": [
                        { "optionId": ALLOW, "name": "Allow", "kind": "allow_once" },
                        { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
                    ],
                });
                let mut said: Vec<_> = self.script.begin().into_iter().map(update).collect();
                said.push(self.end.request(PERMISSION, params, request));
                return said;
            }
            _ => request.refuse(code::METHOD_NOT_FOUND, S::UNKNOWN),
        }]
    }
}

fn chunk(text: String) -> Value {
    let content = json!({ "type": "text", "text": text });
    update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
}

fn update(update: Value) -> Value {
    notification(UPDATE, json!({ "sessionId": SESSION, "update": update }))
}
