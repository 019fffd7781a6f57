//! What is read of the bodies of messages: few members, each of which may lack or be something else.

use std::borrow::Cow;
use std::collections::HashMap;

use acp_chain_trace::{Kind, Line};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Methods with bodies that say something for a span.
const READ: &[&str] = &[
    "initialize",
    "session/prompt",
    "session/request_permission",
    "mcp/message",
];

/// What spans and metrics need of a line: all of it, no body, or nothing. So most of what is said goes nowhere.
#[must_use]
pub fn needed(line: &Line) -> Option<Cow<'_, Line>> {
    let method = line.method.as_deref().unwrap_or_default();
    let is_read = READ.contains(&method) || tool_call(line).is_some();
    match line.to.as_deref() {
        // What comes to a proxy is counted.
        Some(to) if !is_read => is_proxy(to).then(|| Cow::Owned(header(line))),
        _ => Some(Cow::Borrowed(line)),
    }
}

/// Whether a part of a chain is a proxy.
pub fn is_proxy(part: &str) -> bool {
    !["client", "agent", "acp-chain"].contains(&part)
}

/// A line without what it says, none of which is copied.
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
    #[serde(rename = "agentInfo", borrow)]
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

/// The answer to `session/prompt`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Prompted<'a> {
    #[serde(rename = "stopReason", borrow)]
    pub stop: Cow<'a, str>,
    pub usage: Option<Usage>,
}

/// The tokens of a turn, as far as the agent says so (RFD end-turn-token-usage).
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
struct Updated<'a> {
    #[serde(borrow)]
    update: ToolCall<'a>,
}

/// A tool call, or what is new of one.
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
}

impl ToolCall<'_> {
    /// Whether a call begins with it.
    pub fn is_new(&self) -> bool {
        self.what == "tool_call"
    }
}

/// The params of `session/request_permission`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked<'a> {
    #[serde(rename = "toolCall", borrow)]
    pub call: Called<'a>,
    #[serde(borrow)]
    pub options: Vec<Choice<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Called<'a> {
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

/// The answer to it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Answered<'a> {
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

/// The params of a call of MCP's.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Named<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
}

/// The answer to it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct McpAnswered {
    #[serde(rename = "isError")]
    pub is_error: bool,
}

/// An error of JSON-RPC's.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Failed {
    pub code: i64,
}

/// What whoever asks says of a trace that is there (RFD meta-propagation).
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

/// What a body says, or nothing.
pub fn read<'a, T: Deserialize<'a> + Default>(body: Option<&'a RawValue>) -> T {
    body.and_then(|body| serde_json::from_str(body.get()).ok())
        .unwrap_or_default()
}

/// What a request says of a trace.
pub fn meta(params: &RawValue) -> Option<Meta<'_>> {
    let said: WithMeta = serde_json::from_str(params.get()).ok()?;
    Some(said.meta)
}

/// The tool call that an update is about.
pub fn tool_call(line: &Line) -> Option<ToolCall<'_>> {
    let params = line.params.as_ref()?.get();
    let may_be = line.method.as_deref() == Some("session/update")
        && line.kind == Some(Kind::Notification)
        && params.contains("tool_call");
    let said: Updated = may_be.then(|| serde_json::from_str(params).ok())??;
    let call = said.update;
    matches!(&*call.what, "tool_call" | "tool_call_update").then_some(call)
}

/// The options of a permission: by its id, of what kind each is.
pub fn choices(asked: &Asked) -> HashMap<String, &'static str> {
    let named = asked.options.iter().filter_map(|choice| {
        let kind = crate::mapping::permission(&choice.kind)?;
        Some((choice.id.to_string(), kind))
    });
    named.collect()
}
