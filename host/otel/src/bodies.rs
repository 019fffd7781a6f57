//! The parts of message bodies that are read: few members, each of which may be missing or of another type.

use std::borrow::Cow;
use std::collections::HashMap;

use acp_chain_acp::{PERMISSION, PROMPT, UPDATE};
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

/// The answer to `initialize`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Initialized<'a> {
    #[serde(rename = "protocolVersion")]
    pub version: Option<u64>,
    /// In version 2, `info`.
    #[serde(rename = "agentInfo", alias = "info", borrow)]
    pub agent: Info<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Info<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub version: Cow<'a, str>,
}

/// The end of a turn: in version 1 the answer to `session/prompt`, in version 2 an update of the session's state.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PromptResult<'a> {
    #[serde(rename = "stopReason", borrow)]
    pub stop: Cow<'a, str>,
    pub usage: Option<Usage>,
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

/// An update of a session's state (v2, Prompt Lifecycle).
#[derive(Deserialize)]
struct StateUpdate<'a> {
    #[serde(rename = "sessionUpdate", borrow)]
    what: Cow<'a, str>,
    #[serde(borrow)]
    state: Cow<'a, str>,
    #[serde(rename = "stopReason", borrow, default)]
    stop: Cow<'a, str>,
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
    #[serde(borrow)]
    pub content: Block<'a>,
}

impl Chunk<'_> {
    pub fn is_thought(&self) -> bool {
        self.what == "agent_thought_chunk"
    }
}

/// The params of `session/prompt`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Prompt<'a> {
    #[serde(borrow)]
    pub prompt: Vec<Block<'a>>,
}

/// A block of content.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    #[serde(borrow)]
    uri: Cow<'a, str>,
    #[serde(borrow)]
    resource: Resource<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resource<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow)]
    uri: Cow<'a, str>,
}

impl Block<'_> {
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

/// The params of `session/request_permission`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PermissionRequest<'a> {
    #[serde(rename = "toolCall", borrow)]
    pub call: PermissionToolCall<'a>,
    #[serde(borrow)]
    pub options: Vec<Choice<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PermissionToolCall<'a> {
    #[serde(rename = "toolCallId", borrow)]
    pub id: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Choice<'a> {
    #[serde(rename = "optionId", borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PermissionResponse<'a> {
    #[serde(borrow)]
    pub outcome: Outcome<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Outcome<'a> {
    #[serde(borrow)]
    pub outcome: Cow<'a, str>,
    #[serde(rename = "optionId", borrow)]
    pub option: Cow<'a, str>,
}

/// The params of `mcp/message`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Mcp<'a> {
    #[serde(rename = "connectionId", borrow)]
    pub connection: Cow<'a, str>,
    #[serde(borrow)]
    pub method: Cow<'a, str>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
}

/// The params of an MCP call.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct CallParams<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct McpResult {
    #[serde(rename = "isError")]
    pub is_error: bool,
}

/// A JSON-RPC error.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct RpcError {
    pub code: i64,
}

/// The trace context in a request's `_meta` (RFD meta-propagation).
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Meta<'a> {
    #[serde(borrow)]
    pub traceparent: Cow<'a, str>,
    #[serde(borrow)]
    pub tracestate: Cow<'a, str>,
}

#[derive(Deserialize)]
struct WithMeta<'a> {
    #[serde(rename = "_meta", borrow)]
    meta: Meta<'a>,
}

/// Reads a body, or returns the default.
pub fn read<'a, T: Deserialize<'a> + Default>(body: Option<&'a RawValue>) -> T {
    body.and_then(|body| serde_json::from_str(body.get()).ok())
        .unwrap_or_default()
}

/// The trace context of a request.
pub fn meta(params: &RawValue) -> Option<Meta<'_>> {
    let params: WithMeta = serde_json::from_str(params.get()).ok()?;
    Some(params.meta)
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
pub fn stop(line: &Line) -> Option<Cow<'_, str>> {
    let state: StateUpdate = update(line, "state_update")?;
    (state.what == "state_update" && state.state == "idle").then_some(state.stop)
}

/// An update from the agent, if its JSON contains `word`.
fn update<'a, T: Deserialize<'a>>(line: &'a Line, word: &str) -> Option<T> {
    let params = line.params.as_ref()?.get();
    let may_be = line.method.as_deref() == Some(UPDATE)
        && line.kind == Some(Kind::Notification)
        && params.contains(word);
    let params: SessionUpdate<T> = may_be.then(|| serde_json::from_str(params).ok())??;
    Some(params.update)
}

/// The kinds of a permission's options, by their ids.
pub fn choices(asked: &PermissionRequest) -> HashMap<String, &'static str> {
    let named = asked.options.iter().filter_map(|choice| {
        let kind = crate::mapping::permission(&choice.kind)?;
        Some((choice.id.to_string(), kind))
    });
    named.collect()
}
