//! An agent that plays the same turn for each prompt: it asks for a permission, and then says something.

use acp_chain_acp::{INITIALIZE, NEW, PERMISSION, PROMPT, UPDATE, code};
use serde_json::{Value, json};

use crate::{Arrival, End, Request, notification};

/// The name of its sessions.
const SESSION: &str = "played";

/// The option that allows.
const ALLOW: &str = "allow";

/// What is special to an agent.
pub trait Script {
    /// What it says of a method that it does not know.
    const UNKNOWN: &'static str;

    /// The updates with which a turn begins.
    fn begin(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The tool call for which it asks permission, in a session of this folder.
    fn call(&self, folder: &str) -> Value;

    /// What it says when that is decided, in chunks.
    fn say(&self, prompt: &Value, is_allowed: bool) -> Vec<String>;
}

/// The agent, with the prompts whose permission is not decided yet.
#[derive(Debug, Default)]
pub struct Agent<S> {
    script: S,
    /// That of the last session.
    folder: String,
    end: End<Request>,
}

impl<S: Script> Agent<S> {
    /// Takes a message. Returns what the agent says to it, in order.
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
                    "toolCall": self.script.call(&self.folder),
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
