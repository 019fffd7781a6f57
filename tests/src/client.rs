//! Requests of a client to an agent: `initialize` and prompts.

use serde_json::Value;

use crate::envelope::{Message, quoted};
use crate::process::Process;

/// The parameters of a `session/prompt` with one block of text.
#[must_use]
pub fn prompt(session: &str, text: &str) -> String {
    let (session, text) = (quoted(session), quoted(text));
    format!(r#"{{"sessionId":{session},"prompt":[{{"type":"text","text":{text}}}]}}"#)
}

/// The texts of the agent's message chunks in these lines.
#[must_use]
pub fn chunks(lines: &[String]) -> Vec<String> {
    let text = |line: &String| {
        let line: Value = serde_json::from_str(line).ok()?;
        let update = &line["params"]["update"];
        let text = update["content"]["text"].as_str()?;
        (update["sessionUpdate"] == "agent_message_chunk").then(|| text.to_owned())
    };
    lines.iter().filter_map(text).collect()
}

impl Process {
    /// Sends `initialize`, which has to succeed, and clears the transcript.
    ///
    /// # Panics
    /// If the answer is an error.
    pub async fn initialize(&mut self) {
        let answer = self
            .wire
            .request("initialize", r#"{"protocolVersion":1}"#)
            .await;
        assert!(answer.result.is_some(), "{}", answer.line);
        self.wire.transcript().clear();
    }

    /// Prompts the session `s`; returns the request's id.
    pub fn prompt(&mut self, text: &str) -> String {
        self.wire.ask("session/prompt", &prompt("s", text))
    }

    /// Prompts the session `s`, and waits for the end of the turn.
    pub async fn turn(&mut self, text: &str) -> Message {
        let id = self.prompt(text);
        self.wire.response(&id).await
    }

    /// The texts of all chunks received so far.
    #[must_use]
    pub fn chunks(&self) -> Vec<String> {
        chunks(&self.wire.transcript().received("client"))
    }
}
