//! Shows the agent's output as it arrives. Each line is marked, so that none looks like ours.

use console::style;
use serde_json::Value;

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The prefix of each streamed line.
const MARK: &str = "│ ";

/// The state of the output.
#[derive(Debug, Default)]
pub struct AgentOutput {
    /// The current stream, and whether its line has begun.
    streams: Option<(Stream, bool)>,
}

/// Output that arrives in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Message,
    Thought,
}

impl AgentOutput {
    /// Shows an update of a session.
    pub fn update(&mut self, update: &Value) {
        let text = || update["content"]["text"].as_str().unwrap_or("(no text)");
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => self.stream(Stream::Message, text()),
            "agent_thought_chunk" => self.stream(Stream::Thought, text()),
            "tool_call" | "tool_call_update" => {
                let what = update["title"].as_str().or(update["toolCallId"].as_str());
                let status = update["status"].as_str().unwrap_or("pending");
                let what = quote(what.unwrap_or("?"), MAX_QUOTE);
                self.line(&format!("tool: {what} ({})", quote(status, MAX_QUOTE)));
            }
            "plan" => {
                for entry in update["entries"].as_array().into_iter().flatten() {
                    let what = entry["content"].as_str().unwrap_or("?");
                    let status = entry["status"].as_str().unwrap_or("pending");
                    let (what, status) = (quote(what, MAX_QUOTE), quote(status, MAX_QUOTE));
                    self.line(&format!("plan: {what} ({status})"));
                }
            }
            // Commands, modes and usage are for editors.
            _ => {}
        }
    }

    /// Ends the streamed line, if there is one.
    pub fn end(&mut self) {
        if matches!(self.streams.take(), Some((_, true))) {
            say!("");
        }
    }

    fn line(&mut self, line: &str) {
        self.end();
        say!("{MARK}{}", style(line).dim());
    }

    fn stream(&mut self, stream: Stream, text: &str) {
        if self.streams.is_some_and(|(last, _)| last != stream) {
            self.end();
        }
        let (_, mut has_begun) = self.streams.unwrap_or((stream, false));
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 {
                // An empty line is marked as well.
                say!("{}", if has_begun { "" } else { MARK.trim_end() });
                has_begun = false;
            }
            if part.is_empty() {
                continue;
            }
            if !has_begun {
                put!("{MARK}");
                has_begun = true;
            }
            let part = part.trim_end_matches('\r').replace('\t', "    ");
            let part = Untrusted::new(part).to_string();
            match stream {
                Stream::Message => put!("{part}"),
                Stream::Thought => put!("{}", style(part).dim()),
            }
        }
        self.streams = Some((stream, has_begun));
    }
}
