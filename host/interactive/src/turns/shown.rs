//! Shows the agent's output as it arrives. Each line is marked, so that none looks like ours.

use std::collections::BTreeMap;

use console::style;
use serde_json::Value;

use crate::Screen;
use acp_chain_picture::block;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The prefix of each streamed line.
const MARK: &str = "│ ";

/// How many tool calls are remembered, and the longest id of one, in bytes. Others are shown by kind.
const CALLS: usize = 4096;
const LONGEST_ID: usize = 1024;

/// The state of the output.
pub struct AgentOutput {
    screen: &'static dyn Screen,
    /// The current stream, and whether its line has begun.
    streams: Option<(Stream, bool)>,
    /// Whether nothing was shown since the streams ended, or an empty line last: then no other one follows.
    is_blank: bool,
    /// The tool calls, by their ids.
    calls: BTreeMap<String, ToolCall>,
}

/// What a tool call was last shown as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ToolCall {
    title: String,
    status: String,
}

/// Output that arrives in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Message,
    Thought,
}

impl AgentOutput {
    /// Nothing yet; it goes to the screen.
    pub fn new(screen: &'static dyn Screen) -> Self {
        Self {
            screen,
            streams: None,
            is_blank: true,
            calls: BTreeMap::new(),
        }
    }

    /// Shows an update of a session.
    pub fn update(&mut self, update: &Value) {
        let text = || block(&update["content"]);
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => self.stream(Stream::Message, &text()),
            "agent_thought_chunk" => self.stream(Stream::Thought, &text()),
            "tool_call" | "tool_call_update" => self.call(update),
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

    /// Shows a tool call whose title or status is new. Updates about its output alone have neither.
    fn call(&mut self, call: &Value) {
        let id = call["toolCallId"].as_str().unwrap_or_default();
        let before = self.calls.get(id).cloned().unwrap_or_default();
        let quoted = |key: &str| call[key].as_str().map(|text| quote(text, MAX_QUOTE));
        let is_named = !before.title.is_empty();
        let kind = || quoted("kind").filter(|_| !is_named);
        let now = ToolCall {
            title: quoted("title")
                .or_else(kind)
                .unwrap_or(before.title.clone()),
            status: quoted("status").unwrap_or(before.status.clone()),
        };
        if now == before {
            return;
        }
        let title = or(&now.title, "a tool without a title");
        self.line(&format!("tool: {title} ({})", or(&now.status, "pending")));
        let has_room = self.calls.len() < CALLS && id.len() <= LONGEST_ID;
        if has_room || self.calls.contains_key(id) {
            self.calls.insert(id.to_owned(), now);
        }
    }

    /// The title of a tool call that was shown, as it was quoted.
    pub fn title(&self, id: &str) -> Option<&str> {
        let title = &*self.calls.get(id)?.title;
        (!title.is_empty()).then_some(title)
    }

    /// Shows what happened to a file.
    pub fn file(&mut self, what: &str) {
        self.line(&format!("file: {what}"));
    }

    /// Ends the streamed line, if there is one.
    pub fn end(&mut self) {
        if matches!(self.streams.take(), Some((_, true))) {
            self.screen.say(format_args!(""));
        }
        self.is_blank = true;
    }

    fn line(&mut self, line: &str) {
        self.end();
        self.screen.say(format_args!("{MARK}{}", style(line).dim()));
        self.is_blank = false;
    }

    fn stream(&mut self, stream: Stream, text: &str) {
        if self.streams.is_some_and(|(last, _)| last != stream) {
            self.end();
        }
        let (_, mut has_begun) = self.streams.unwrap_or((stream, false));
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 && has_begun {
                self.screen.say(format_args!(""));
                has_begun = false;
            } else if at > 0 && !self.is_blank {
                // An empty line is marked as well. Notices begin and end with some.
                self.screen.say(format_args!("{}", MARK.trim_end()));
                self.is_blank = true;
            }
            if part.is_empty() {
                continue;
            }
            if !has_begun {
                self.screen.put(format_args!("{MARK}"));
                has_begun = true;
                self.is_blank = false;
            }
            let part = part.trim_end_matches('\r').replace('\t', "    ");
            let part = Untrusted::new(part).to_string();
            match stream {
                Stream::Message => self.screen.put(format_args!("{part}")),
                Stream::Thought => self.screen.put(format_args!("{}", style(part).dim())),
            }
        }
        self.streams = Some((stream, has_begun));
    }
}

/// A text, or the other if it is empty.
fn or<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.is_empty() { other } else { text }
}

#[cfg(test)]
mod tests {
    use std::fmt::Arguments;
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::screen::Blank;

    /// Keeps what is shown.
    #[derive(Default)]
    struct Shown(Mutex<String>);

    impl Screen for Shown {
        fn put(&self, text: Arguments<'_>) {
            self.0.lock().unwrap().push_str(&text.to_string());
        }

        fn tell(&self, _line: Arguments<'_>) {}

        fn is_terminal(&self) -> bool {
            false
        }
    }

    #[test]
    fn no_empty_line_comes_first_or_behind_another() {
        let shown: &'static Shown = Box::leak(Box::default());
        let mut output = AgentOutput::new(shown);
        for text in ["\n\n", "a notice\n\n", "\n\nanother\n\n", "a\nb\n\n\nc"] {
            output.stream(Stream::Message, text);
        }
        output.end();
        assert_eq!(
            *shown.0.lock().unwrap(),
            "│ a notice\n│\n│ another\n│\n│ a\n│ b\n│\n│ c\n"
        );
    }

    #[test]
    fn a_tool_call_keeps_its_title_and_a_new_one_replaces_it() {
        let mut output = AgentOutput::new(&Blank);
        let mut title = |update: Value| {
            output.update(&update);
            output.title("a").map(str::to_owned)
        };
        let call = |key: &str, value: &str| json!({ "sessionUpdate": "tool_call_update", "toolCallId": "a", key: value });
        assert_eq!(title(call("status", "pending")), None);
        assert_eq!(title(call("kind", "execute")).as_deref(), Some("execute"));
        assert_eq!(
            title(call("title", "bash\u{1b}")).as_deref(),
            Some("bash\\u{1b}")
        );
        assert_eq!(
            title(call("kind", "execute")).as_deref(),
            Some("bash\\u{1b}")
        );
        assert_eq!(title(call("title", "ls")).as_deref(), Some("ls"));
        assert_eq!(title(call("status", "completed")).as_deref(), Some("ls"));
    }
}
