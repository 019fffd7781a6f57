//! The legs of a trace: messages that crossed from one part of the chain to the next, in order.

use acp_chain_acp::{PERMISSION, PROMPT, UPDATE};
pub use acp_chain_trace::Kind;
use acp_chain_trace::{read_in_part, read_whole};
use serde::Deserialize;
use serde_json::Value;

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
}

/// The legs of a trace. Other lines, such as decisions of proxies, are skipped.
///
/// # Errors
/// If a line is not from a trace.
pub fn legs(trace: &str) -> serde_json::Result<Vec<Leg>> {
    let legs = trace.lines().map(leg);
    legs.filter_map(Result::transpose).collect()
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

    fn said(&self) -> String {
        if self.is_in_part {
            return "(cannot be shown)".to_owned();
        }
        match self.kind {
            Kind::Request | Kind::Notification => text_of(&self.method, &self.params),
            Kind::Response if !self.error.is_null() => {
                let message = self.error["message"].as_str();
                format!("error: {}", message.unwrap_or("?"))
            }
            Kind::Response => match self.method.as_str() {
                "fs/read_text_file" => string(&self.result["content"]),
                PROMPT => string(&self.result["stopReason"]),
                PERMISSION => string(&self.result["outcome"]["optionId"]),
                _ => self.result.to_string(),
            },
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
        PERMISSION => string(&params["toolCall"]["title"]),
        "fs/read_text_file" => string(&params["path"]),
        _ => params.to_string(),
    }
}

/// The text of a chunk, or the title and the last status of a tool call.
fn update(update: &Value) -> String {
    let said = update["content"]
        .as_array()
        .and_then(|content| content.last());
    match (update["title"].as_str(), said) {
        (Some(title), Some(said)) => format!("{title}: {}", string(&said["content"]["text"])),
        (Some(title), None) => title.to_owned(),
        (None, _) => string(&update["content"]["text"]),
    }
}

/// A content block: its own text, or that of the resource in it.
fn block(block: &Value) -> String {
    match &block["resource"]["text"] {
        Value::Null => string(&block["text"]),
        text => string(text),
    }
}

fn string(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
