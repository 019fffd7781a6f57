//! The parts of message bodies that are read: few members, each of which may be missing or of another type.

use std::borrow::Cow;
use std::collections::HashMap;

use acp_chain_acp::{MCP_MESSAGE, PERMISSION, PROMPT, UPDATE, protocol_version};
use acp_chain_rpc::{resolve, value_at};
use acp_chain_trace::{Kind, Line};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Methods whose bodies matter for spans.
const READ: &[&str] = &["initialize", PROMPT, PERMISSION, MCP_MESSAGE];

/// The part of a line that spans and metrics need: all of it, the line without its body, or nothing. So most contents
/// are not sent to the exporter, unless `content` is set.
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

/// The tokens of a turn, as far as the agent reports them (RFD end-turn-token-usage).
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    #[serde(rename = "inputTokens")]
    pub input: Option<u64>,
    #[serde(rename = "outputTokens")]
    pub output: Option<u64>,
    #[serde(rename = "thoughtTokens")]
    pub thought: Option<u64>,
    #[serde(rename = "cachedReadTokens")]
    pub cached_read: Option<u64>,
    #[serde(rename = "cachedWriteTokens")]
    pub cached_write: Option<u64>,
}

/// The params of `session/update`.
#[derive(Deserialize)]
struct SessionUpdate<T> {
    update: T,
}

/// A tool call, or an update of one.
#[derive(Deserialize)]
pub struct ToolCall<'a> {
    #[serde(rename = "sessionUpdate", borrow)]
    what: Cow<'a, str>,
    #[serde(rename = "toolCallId", borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub status: Option<Cow<'a, str>>,
    #[serde(rename = "rawInput", borrow, default)]
    pub input: Option<&'a RawValue>,
    #[serde(rename = "rawOutput", borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

impl ToolCall<'_> {
    /// Whether it begins a call.
    pub fn is_new(&self) -> bool {
        self.what == "tool_call"
    }

    /// The call's raw output, otherwise its content.
    pub fn output(&self) -> Option<&RawValue> {
        self.output.or(self.content)
    }
}

/// A chunk of the agent's output.
#[derive(Deserialize)]
pub struct Chunk<'a> {
    #[serde(rename = "sessionUpdate", borrow)]
    what: Cow<'a, str>,
    pub content: Block,
}

impl Chunk<'_> {
    pub fn is_thought(&self) -> bool {
        self.what == "agent_thought_chunk"
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

/// An option of `session/request_permission`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    #[serde(rename = "optionId")]
    id: String,
    kind: String,
}

/// The places in bodies that are read alone, as JSON Pointers.
pub mod place {
    pub const VERSION: &str = "/protocolVersion";
    pub const STOP_REASON: &str = "/stopReason";
    pub const USAGE: &str = "/usage";
    pub const PROMPT: &str = "/prompt";
    pub const CODE: &str = "/code";
    pub const META: &str = "/_meta";
    pub const TOOL_CALL: &str = "/toolCall/toolCallId";
    pub const OUTCOME: &str = "/outcome/outcome";
    pub const OPTION: &str = "/outcome/optionId";
    pub const MCP_CONNECTION: &str = "/connectionId";
    pub const MCP_METHOD: &str = "/method";
    pub const MCP_META: &str = "/params/_meta";
    pub const MCP_NAME: &str = "/params/name";
    pub const MCP_ARGUMENTS: &str = "/params/arguments";
    pub const MCP_ERROR: &str = "/isError";
}

/// The value at a JSON Pointer in a body; the default if there is none, or one of another type.
pub fn at<T: DeserializeOwned + Default>(body: Option<&RawValue>, pointer: &str) -> T {
    let value = body.and_then(|body| value_at(body.get(), pointer));
    value.unwrap_or_default()
}

/// The version of the protocol that the answer to `initialize` names.
pub fn version(result: Option<&RawValue>) -> Option<u64> {
    let version = resolve(result?.get(), place::VERSION).ok()?;
    protocol_version(version?)
}

/// A member of the agent's description in the answer to `initialize`: its `name` or its `version`.
pub fn of_agent(result: Option<&RawValue>, name: &str) -> Option<String> {
    // In version 2, the description is `info`.
    let mut places = ["/agentInfo", "/info"].into_iter();
    places.find_map(|info| at(result, &format!("{info}/{name}")))
}

/// The tool call of an update.
pub fn tool_call(line: &Line) -> Option<ToolCall<'_>> {
    update(line, "tool_call")
        .filter(|call: &ToolCall| matches!(&*call.what, "tool_call" | "tool_call_update"))
}

/// The chunk of the agent's output in an update.
pub fn chunk(line: &Line) -> Option<Chunk<'_>> {
    update(line, "agent_").filter(|chunk: &Chunk| {
        matches!(&*chunk.what, "agent_message_chunk" | "agent_thought_chunk")
    })
}

/// The stop reason in an update that ends the turns of a session (v2, Prompt Lifecycle).
pub fn stop(line: &Line) -> Option<String> {
    let params = update_with(line, "state_update")?;
    let is = |name, value: &str| value_at::<String>(params, name).as_deref() == Some(value);
    (is("/update/sessionUpdate", "state_update") && is("/update/state", "idle"))
        .then(|| value_at(params, "/update/stopReason").unwrap_or_default())
}

/// The params of an update from the agent, if they contain `word`.
fn update_with<'a>(line: &'a Line, word: &str) -> Option<&'a str> {
    let params = line.params.as_ref()?.get();
    let may_be = line.method.as_deref() == Some(UPDATE)
        && line.kind == Some(Kind::Notification)
        && params.contains(word);
    may_be.then_some(params)
}

/// An update from the agent, if its JSON contains `word`.
fn update<'a, T: Deserialize<'a>>(line: &'a Line, word: &str) -> Option<T> {
    let params: SessionUpdate<T> = serde_json::from_str(update_with(line, word)?).ok()?;
    Some(params.update)
}

/// The kinds of a permission's options, by their ids.
pub fn choices(params: &RawValue) -> HashMap<String, &'static str> {
    let options: Vec<Choice> = at(Some(params), "/options");
    let named = options
        .into_iter()
        .filter_map(|choice| Some((choice.id, crate::mapping::permission(&choice.kind)?)));
    named.collect()
}
