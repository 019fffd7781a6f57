//! The parts of message bodies that are read: few places, each of which may be missing or of another type.

use std::borrow::Cow;
use std::collections::HashMap;

use acp_chain_acp::{PERMISSION, PROMPT, UPDATE};
use acp_chain_rpc::resolve;
use acp_chain_trace::{Kind, Line};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Methods whose bodies matter for spans.
const READ: &[&str] = &["initialize", PROMPT, PERMISSION, "mcp/message"];

/// The part of a line that spans and metrics need: all of it, the line without its body, or nothing. So most contents
/// are not sent to the exporter, unless `content` is set.
#[must_use]
pub fn needed(line: &Line, content: bool) -> Option<Cow<'_, Line>> {
    let method = line.method.as_deref().unwrap_or_default();
    let is_chunk = || content && line.from.as_deref() == Some("agent") && chunk(line).is_some();
    let is_read =
        READ.contains(&method) || tool_call(line).is_some() || stop(line).is_some() || is_chunk();
    match line.to.as_deref() {
        // Lines of messages to proxies are needed for counters.
        Some(to) if !is_read => is_proxy(to).then(|| Cow::Owned(header(line))),
        _ => Some(Cow::Borrowed(line)),
    }
}

/// Whether a part of a chain is a proxy.
pub fn is_proxy(part: &str) -> bool {
    !["client", "agent", "acp-chain"].contains(&part)
}

/// The denied calls of a proxy, and how often.
pub fn denials(line: &Line) -> impl Iterator<Item = (&'static str, u64)> {
    let counts = [
        ("denied", line.denied),
        ("invalid", line.invalid),
        ("full", line.full),
    ];
    let counts = counts.into_iter();
    counts.filter_map(|(denial, count)| Some((denial, count.filter(|count| *count > 0)?)))
}

/// A line without its body, which is not copied.
fn header(line: &Line) -> Line {
    Line {
        time: line.time.clone(),
        connection: line.connection.clone(),
        size: line.size,
        waited: line.waited,
        from: line.from.clone(),
        to: line.to.clone(),
        kind: line.kind,
        request: line.request,
        method: line.method.clone(),
        session: line.session.clone(),
        ..Line::default()
    }
}

/// Reads the place of a body to which a JSON Pointer leads; `None` if it is missing, null or of another type.
pub fn at<'a, T: Deserialize<'a>>(body: Option<&'a RawValue>, place: &str) -> Option<T> {
    let value = resolve(body?.get(), place).ok()?;
    serde_json::from_str(value.filter(|value| *value != "null")?).ok()
}

/// The tokens of a turn, as far as the agent reports them (RFD end-turn-token-usage).
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the protocol's names")]
pub struct Usage {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub thought_tokens: Option<u64>,
    pub cached_read_tokens: Option<u64>,
    pub cached_write_tokens: Option<u64>,
}

/// A tool call, or an update of one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the protocol's names")]
pub struct ToolCall<'a> {
    session_update: String,
    pub tool_call_id: String,
    pub kind: Option<String>,
    pub status: Option<String>,
    #[serde(borrow)]
    pub raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_output: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl ToolCall<'_> {
    /// Whether it begins a call.
    pub fn is_new(&self) -> bool {
        self.session_update == "tool_call"
    }

    /// The call's raw output, otherwise its content.
    pub fn output(&self) -> Option<&RawValue> {
        self.raw_output.or(self.content)
    }
}

/// A block of content.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Block {
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    uri: String,
    resource: Resource,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resource {
    text: String,
    uri: String,
}

impl Block {
    /// The block's kind, its text, and its URI. Only text has content.
    pub fn part(&self) -> (&'static str, &str, &str) {
        match &*self.kind {
            "text" => ("text", &self.text, ""),
            "image" => ("image", "", ""),
            "audio" => ("audio", "", ""),
            "resource_link" => ("resource_link", "", &self.uri),
            "resource" => ("resource", &self.resource.text, &self.resource.uri),
            _ => ("other", "", ""),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

/// The kinds of the options of a permission request, by their ids.
pub fn choices(params: &RawValue) -> HashMap<String, &'static str> {
    let options: Vec<Choice> = at(Some(params), "/options").unwrap_or_default();
    let named = options.into_iter().filter_map(|choice| {
        let kind = crate::mapping::permission(&choice.kind)?;
        Some((choice.option_id, kind))
    });
    named.collect()
}

/// The tool call of an update.
pub fn tool_call(line: &Line) -> Option<ToolCall<'_>> {
    let call: ToolCall = at(update(line, "tool_call"), "/update")?;
    matches!(&*call.session_update, "tool_call" | "tool_call_update").then_some(call)
}

/// The chunk of the agent's output in an update, and whether it is a thought.
pub fn chunk(line: &Line) -> Option<(Block, bool)> {
    let params = update(line, "agent_");
    let is_thought = match &*at::<String>(params, "/update/sessionUpdate")? {
        "agent_message_chunk" => false,
        "agent_thought_chunk" => true,
        _ => return None,
    };
    Some((at(params, "/update/content")?, is_thought))
}

/// The stop reason in an update that ends the turns of a session (v2, Prompt Lifecycle).
pub fn stop(line: &Line) -> Option<String> {
    let params = update(line, "state_update");
    let is = |place, text: &str| at::<String>(params, place).is_some_and(|found| found == text);
    let is_idle = is("/update/sessionUpdate", "state_update") && is("/update/state", "idle");
    is_idle.then(|| at(params, "/update/stopReason").unwrap_or_default())
}

/// The params of an update from the agent, if its JSON contains `word`.
fn update<'a>(line: &'a Line, word: &str) -> Option<&'a RawValue> {
    let is_update = line.method.as_deref() == Some(UPDATE) && line.kind == Some(Kind::Notification);
    let params = line.params.as_deref().filter(|_| is_update)?;
    params.get().contains(word).then_some(params)
}
