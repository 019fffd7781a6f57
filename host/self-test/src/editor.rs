//! The editor of the self-test: it launches a chain, and takes turns. It waits for nothing longer than [`PATIENCE`],
//! and the chain has ended when it is dropped.

use std::process::Stdio;

use acp_chain_acp::{INITIALIZE, NEW, PROMPT, UPDATE};
use acp_chain_ends::client::{Services, new_session, prompt};
use acp_chain_ends::editor::{self, EditorError};
use acp_chain_ends::{Arrival, Outcome};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use serde_json::Value;

use crate::stage::Stage;
use crate::{PATIENCE, Reason};

pub struct Editor<'s> {
    stage: &'s Stage,
    chain: editor::Editor,
    session: Value,
    /// The texts of the turn.
    said: String,
}

impl<'s> Editor<'s> {
    /// Launches the chain, and begins a session. Others of the user may watch the chain if it is live.
    pub fn launch(stage: &'s Stage, is_live: bool) -> Result<Self, Reason> {
        let mut command = stage.chain();
        command
            .env("ACP_CHAIN_LIVE", if is_live { "1" } else { "0" })
            .stderr(Stdio::null());
        let services = Services::new(None, "the editor of the self-test does not support this");
        let initialize = services.initialize();
        let started = editor::Editor::launch(&mut command, services, PATIENCE);
        let chain = started.map_err(|error| format!("the chain cannot be started: {error}"))?;
        let mut editor = Self {
            stage,
            chain,
            session: Value::Null,
            said: String::new(),
        };
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
        let killed = self.chain.kill();
        killed.map_err(|error| format!("the chain cannot be killed: {error}"))?;
        Ok(())
    }

    /// Disconnects. The chain must end, and with success.
    pub fn close(mut self) -> Result<(), Reason> {
        match self.chain.close() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.broken(&format!("the chain ended with {status}"))),
            Err(EditorError::Unknown(error)) => {
                Err(self.broken(&format!("the chain cannot be waited for: {error}")))
            }
            Err(_) => Err(self.broken("the chain does not end when its editor disconnects")),
        }
    }

    /// Sends a request whose answer must be a result.
    fn succeed(&mut self, method: &str, params: Value) -> Result<Value, Reason> {
        self.ask(method, params)?
            .map_err(|error| self.broken(&format!("`{method}` failed: {}", message(&error))))
    }

    /// Sends a request, and serves the agent until the answer arrives.
    fn ask(&mut self, method: &str, params: Value) -> Result<Outcome, Reason> {
        let said = &mut self.said;
        let asked = self.chain.ask(method, params, |_, arrival| {
            if let Arrival::Notification(method, params) = arrival
                && method == UPDATE
            {
                let text = params["update"]["content"]["text"].as_str();
                said.push_str(text.unwrap_or_default());
            }
        });
        asked.map_err(|error| match error {
            EditorError::Malformed(error) => {
                Reason::Broken(format!("the chain sent what is no message: {error}"))
            }
            EditorError::Input(error) => self.broken(&format!("the chain does not read: {error}")),
            EditorError::Late => {
                let seconds = PATIENCE.as_secs();
                self.broken(&format!("`{method}` was not answered within {seconds} s"))
            }
            EditorError::Ended | EditorError::Unknown(_) => {
                self.broken(&format!("the chain ended before it answered `{method}`"))
            }
        })
    }

    /// A broken promise, with the last words of the log.
    fn broken(&self, why: &str) -> Reason {
        Reason::Broken(format!("{why}{}", self.stage.last_words()))
    }
}

/// The message of an error.
fn message(error: &Value) -> String {
    let text = error["message"].as_str().unwrap_or("no reason is given");
    quote(text, 4 * MAX_QUOTE)
}
