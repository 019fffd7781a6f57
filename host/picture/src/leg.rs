//! The legs of a trace: messages that crossed from one part of the chain to the next, in order.

use std::collections::HashMap;

use acp_chain_acp::{PERMISSION, PROMPT, UPDATE};
pub use acp_chain_trace::Kind;
use acp_chain_trace::{read_in_part, read_whole};
use serde::Deserialize;
use serde_json::Value;

/// The part of the chain that is the host.
const HOST: &str = "acp-chain";

/// One hop of a message.
#[derive(Clone, Debug, Deserialize)]
pub struct Leg {
    /// The part that last handled the message.
    pub from: String,
    /// The next part that receives the message.
    pub to: String,
    pub kind: Kind,
    /// The method; for a response, the request's.
    pub method: String,
    #[serde(default)]
    pub(crate) params: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Value,
    /// Whether it has a body that cannot be represented.
    #[serde(skip)]
    is_in_part: bool,
    /// The title that an earlier message on the same hop gave the tool call, if this message has none.
    #[serde(skip)]
    known_title: Option<String>,
}

/// The legs of a trace. Other lines, such as decisions of proxies, are skipped.
///
/// # Errors
/// If a line is not from a trace.
pub fn legs(trace: &str) -> serde_json::Result<Vec<Leg>> {
    let legs = trace.lines().map(leg);
    let legs: serde_json::Result<Vec<Leg>> = legs.filter_map(Result::transpose).collect();
    legs.map(with_titles)
}

/// Adds the titles of tool calls to messages that name a call by its id alone. A proxy may change a title, so each hop
/// has its own.
fn with_titles(legs: Vec<Leg>) -> Vec<Leg> {
    let mut titles: HashMap<(String, String, String), String> = HashMap::new();
    let named = legs.into_iter().map(|leg| {
        let Some(call) = leg.tool_call() else {
            return leg;
        };
        let Some(id) = call["toolCallId"].as_str() else {
            return leg;
        };
        let key = (leg.from.clone(), leg.to.clone(), id.to_owned());
        let known_title = match call["title"].as_str() {
            Some(title) => {
                titles.insert(key, title.to_owned());
                None
            }
            None => titles.get(&key).cloned(),
        };
        Leg { known_title, ..leg }
    });
    named.collect()
}

fn leg(line: &str) -> serde_json::Result<Option<Leg>> {
    let line = line.as_bytes();
    let (line, is_in_part): (Value, _) = match read_whole(line) {
        Ok(whole) => (whole, false),
        Err(error) => (read_in_part(line).ok_or(error)?, true),
    };
    if line.get("from").is_none() {
        return Ok(None);
    }
    let leg: Leg = serde_json::from_value(line)?;
    Ok(Some(Leg { is_in_part, ..leg }))
}

/// A text with terminal controls, and characters that disguise text, replaced.
fn shown(text: &str) -> String {
    let deceives = |c: char| match c {
        '\n' => false,
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => true,
        _ => c.is_control(),
    };
    text.replace(deceives, "\u{fffd}")
}

impl Leg {
    /// The relevant part of the body, with terminal controls replaced.
    #[must_use]
    pub fn text(&self) -> String {
        shown(&self.said())
    }

    /// The method, with terminal controls replaced.
    #[must_use]
    pub fn title(&self) -> String {
        shown(&self.method).replace('\n', "\u{fffd}")
    }

    /// Whether it is shown completely, so that legs with the same text are equal.
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_in_part
    }

    /// Whether a proxy asks the host for a stored value, or is answered without an error.
    pub(crate) fn is_of_stored_value(&self) -> bool {
        matches!(&*self.method, "load-value" | "store-value")
            && (self.from == HOST || self.to == HOST)
            && self.error.is_null()
    }

    fn said(&self) -> String {
        if self.is_in_part {
            return "(cannot be shown)".to_owned();
        }
        match self.kind {
            Kind::Request | Kind::Notification => match &self.known_title {
                Some(title) => titled(title, self.tool_call().unwrap_or(&Value::Null)),
                None => text_of(&self.method, &self.params),
            },
            Kind::Response if !self.error.is_null() => {
                let message = self.error["message"].as_str();
                format!("error: {}", message.unwrap_or("?"))
            }
            Kind::Response => match self.method.as_str() {
                "fs/read_text_file" => string(&self.result["content"]),
                PROMPT => string(&self.result["stopReason"]),
                PERMISSION => match &self.result["outcome"]["optionId"] {
                    Value::Null => string(&self.result["outcome"]["outcome"]),
                    option => string(option),
                },
                _ => self.result.to_string(),
            },
        }
    }

    /// The tool call that a request or notification is about.
    fn tool_call(&self) -> Option<&Value> {
        match (self.kind, self.method.as_str()) {
            (Kind::Notification, UPDATE) => Some(&self.params["update"]),
            (Kind::Request, PERMISSION) => Some(&self.params["toolCall"]),
            _ => None,
        }
    }
}

/// The text in the parameters of a request or notification.
#[must_use]
pub fn text_of(method: &str, params: &Value) -> String {
    match method {
        PROMPT => {
            let blocks = params["prompt"].as_array().into_iter().flatten();
            let texts: Vec<String> = blocks.map(block).collect();
            texts.join("\n")
        }
        UPDATE => update(&params["update"]),
        PERMISSION => {
            let call = &params["toolCall"];
            let title = call["title"].as_str().or(call["kind"].as_str());
            title.unwrap_or("a tool call without a title").to_owned()
        }
        "fs/read_text_file" => string(&params["path"]),
        _ => params.to_string(),
    }
}

/// The text of a chunk, the title of a tool call with its last output, or else the kind of the update.
fn update(update: &Value) -> String {
    match (update["title"].as_str(), output(update)) {
        (Some(title), _) => titled(title, update),
        (None, Some(text)) => text.to_owned(),
        (None, None) => {
            let kind = update["sessionUpdate"].as_str().unwrap_or("(nothing)");
            with_status(kind, update)
        }
    }
}

/// A tool call with this title: its last output, or else its status.
fn titled(title: &str, call: &Value) -> String {
    match output(call) {
        Some(text) => format!("{title}: {text}"),
        None => with_status(title, call),
    }
}

fn with_status(what: &str, update: &Value) -> String {
    match update["status"].as_str() {
        Some(status) => format!("{what} ({status})"),
        None => what.to_owned(),
    }
}

/// The text of an update: of a chunk, or the last one of a tool call.
fn output(update: &Value) -> Option<&str> {
    let last = match update["content"].as_array() {
        Some(content) => &content.last()?["content"],
        None => &update["content"],
    };
    last["text"].as_str()
}

/// A content block: its own text, that of the resource in it, or else what it is. As received: it may have terminal
/// controls. Some agents send a text instead, or a list of blocks.
#[must_use]
pub fn block(block: &Value) -> String {
    if let Some(blocks) = block.as_array() {
        return blocks.iter().map(self::block).collect();
    }
    let texts = [
        block,
        &block["text"],
        &block["resource"]["text"],
        &block["uri"],
    ];
    match texts.into_iter().find_map(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("({})", block["type"].as_str().unwrap_or("nothing")),
    }
}

fn string(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_of_content_is_found_however_it_is_wrapped() {
        for (content, expected) in [
            (json!({ "type": "text", "text": "a" }), "a"),
            (json!("a"), "a"),
            (json!([{ "type": "text", "text": "a" }, "b"]), "ab"),
            (
                json!({ "type": "resource", "resource": { "text": "a" } }),
                "a",
            ),
            (json!({ "type": "video" }), "(video)"),
            (json!(null), "(nothing)"),
        ] {
            assert_eq!(block(&content), expected, "{content}");
        }
    }
}
