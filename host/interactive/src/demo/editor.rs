//! The editor of the demo. Its user allows everything that they are asked.

use std::process::Command;
use std::time::Duration;

use acp_chain_acp::{PERMISSION, UPDATE};
use acp_chain_ends::Arrival;
use acp_chain_ends::client::Services;
use acp_chain_ends::editor::{self, EditorError};
use acp_chain_picture::text_of;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use serde_json::Value;

use crate::{Error, Result};

/// Why the demo cannot go on, if the chain does not read or has closed its output.
const ENDED: &str = "the chain has ended before the demo";

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
    chain: editor::Editor,
    seen: UserView,
    /// Every line that arrived.
    received: String,
}

impl Editor {
    /// Starts the chain.
    pub fn launch(command: &mut Command, services: Services) -> Result<Self> {
        // The user ends a demo that takes too long.
        let started = editor::Editor::launch(command, services, Duration::MAX);
        Ok(Self {
            chain: started.map_err(Error::io("the chain cannot be started"))?,
            seen: UserView::default(),
            received: String::new(),
        })
    }

    /// Sends a request, and serves the agent until the result arrives. An error is one of the demo.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let (seen, received) = (&mut self.seen, &mut self.received);
        let asked = self.chain.ask(method, params, |line, arrival| {
            received.push_str(line);
            received.push('\n');
            seen.note(arrival);
        });
        let outcome = asked.map_err(|error| match error {
            EditorError::Input(error) => Error::io(ENDED)(error),
            EditorError::Malformed(error) => {
                Error::Demo(format!("the chain sent what is no message: {error}"))
            }
            _ => Error::Demo(ENDED.to_owned()),
        })?;
        outcome.map_err(|error| {
            let why = error["message"].as_str().unwrap_or("no reason is given");
            let why = why.strip_prefix("acp-chain: ").unwrap_or(why);
            Error::Demo(quote(why, 4 * MAX_QUOTE))
        })
    }

    /// What the user saw since the last call.
    pub fn seen(&mut self) -> UserView {
        std::mem::take(&mut self.seen)
    }

    /// Ends the connection as editors do. Returns every line that arrived before.
    pub fn close(mut self) -> Result<String> {
        match self.chain.close() {
            Err(EditorError::Unknown(error)) => Err(Error::io("the chain does not end")(error)),
            // It is no part of the demo how the chain ended.
            _ => Ok(self.received),
        }
    }
}

impl UserView {
    fn note(&mut self, arrival: &Arrival) {
        match arrival {
            Arrival::Request(request) => self.was_asked |= request.method() == PERMISSION,
            Arrival::Notification(method, params) if method == UPDATE => {
                let text = text_of(UPDATE, params);
                if params["update"]["sessionUpdate"] == "agent_message_chunk" {
                    self.message.push_str(&text);
                } else {
                    self.updates.push(text);
                }
            }
            _ => {}
        }
    }
}
