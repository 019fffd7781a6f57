//! Requests with spans: turns, permissions, and MCP calls.

use std::collections::HashMap;
use std::time::SystemTime;

use acp_chain_acp::{MCP_MESSAGE, PERMISSION, PROMPT};
use acp_chain_trace::Line;
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanContext, SpanKind};
use opentelemetry_sdk::trace::SpanData;
use serde_json::value::RawValue;

use crate::bodies::{self, Usage, at, place};
use crate::content::{Call, Room, Turn};
use crate::context::remote;
use crate::mapping::{self, identifier};
use crate::span_data::{end, fail, list, names, with};

/// The agent's name and version, from its answer to `initialize`.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub name: Option<String>,
    pub version: Option<String>,
}

/// The subject of a request, with its contents if they are exported.
#[derive(Debug)]
pub enum About {
    Turn(Option<Turn>),
    Permission {
        choices: HashMap<String, &'static str>,
        outcome: Option<&'static str>,
    },
    Mcp(Option<Call>),
}

/// The properties of a new request.
pub struct NewRequest {
    pub about: About,
    pub name: String,
    pub kind: SpanKind,
    pub attributes: Vec<KeyValue>,
    /// The parent span in the request's `_meta`.
    pub remote: Option<SpanContext>,
    /// The id of its tool call.
    pub tool: Option<String>,
}

/// An unanswered request.
#[derive(Debug)]
pub struct Request {
    pub asker: String,
    pub session: Option<String>,
    pub about: About,
    /// Whether it is answered. Later lines have changed versions of the answer.
    pub is_answered: bool,
    /// The stop reason of a turn.
    pub stop: Option<String>,
    pub span: SpanData,
}

impl NewRequest {
    /// `None` for a request without a span. With `room`, its contents are exported.
    pub fn read(
        line: &Line,
        params: &RawValue,
        agent: &Agent,
        room: Option<&Room>,
    ) -> Option<Self> {
        let remote = remote(params, place::META);
        match line.method.as_deref()? {
            PROMPT => Some(Self::turn(agent, room, remote)),
            PERMISSION => Some(Self::permission(params, remote)),
            // The host forwards a call as its own request, which has no sender's id.
            MCP_MESSAGE => Self::mcp(params, line.id.as_deref()?, room, remote),
            _ => None,
        }
    }

    fn turn(agent: &Agent, room: Option<&Room>, remote: Option<SpanContext>) -> Self {
        Self {
            about: About::Turn(room.map(Turn::new)),
            name: with(mapping::TURN, agent.name.as_deref()),
            kind: SpanKind::Client,
            attributes: names(&[
                (mapping::OPERATION, Some(mapping::TURN)),
                (mapping::AGENT_NAME, agent.name.as_deref()),
                (mapping::AGENT_VERSION, agent.version.as_deref()),
            ]),
            remote,
            tool: None,
        }
    }

    fn permission(params: &RawValue, remote: Option<SpanContext>) -> Self {
        let tool: String = at(Some(params), place::TOOL_CALL);
        Self {
            about: About::Permission {
                choices: bodies::choices(params),
                outcome: None,
            },
            name: mapping::PERMISSION.to_owned(),
            kind: SpanKind::Internal,
            attributes: names(&[(mapping::TOOL_CALL, Some(&tool))]),
            remote,
            tool: Some(tool),
        }
    }

    fn mcp(
        params: &RawValue,
        id: &RawValue,
        room: Option<&Room>,
        remote: Option<SpanContext>,
    ) -> Option<Self> {
        let text = |pointer| at::<String>(Some(params), pointer);
        let (asked, named) = (text(place::MCP_METHOD), text(place::MCP_NAME));
        let method = identifier(&asked)?;
        let target = identifier(&named);
        let (tool, prompt) = match method {
            "tools/call" => (target, None),
            "prompts/get" => (None, target),
            _ => (None, None),
        };
        let operation = (method == "tools/call").then_some(mapping::TOOL);
        let mut content = room.map(Call::new);
        if let Some(content) = &mut content {
            let arguments: Option<Box<RawValue>> = at(Some(params), place::MCP_ARGUMENTS);
            content.set_arguments(arguments.as_deref());
        }
        Some(Self {
            about: About::Mcp(content),
            name: with(method, target.filter(|_| tool.or(prompt).is_some())),
            kind: SpanKind::Client,
            attributes: names(&[
                (mapping::MCP_METHOD, Some(method)),
                (mapping::MCP_SESSION, Some(&text(place::MCP_CONNECTION))),
                (mapping::TOOL_NAME, tool),
                (mapping::PROMPT_NAME, prompt),
                (mapping::OPERATION, operation),
                (mapping::REQUEST_ID, Some(id.get().trim_matches('"'))),
            ]),
            // MCP's own `_meta` is from the caller of the tool, the outer one from the sender of `mcp/message`.
            remote: self::remote(params, place::MCP_META).or(remote),
            tool: None,
        })
    }
}

impl Request {
    /// Adds the prompt of a turn, when the agent receives it.
    pub fn reached_agent(&mut self, params: &RawValue) {
        if let About::Turn(Some(turn)) = &mut self.about {
            turn.add_input(&at::<Vec<bodies::Block>>(Some(params), place::PROMPT));
        }
    }

    /// Adds the agent's output to the turn.
    pub fn add_chunk(&mut self, chunk: &bodies::Chunk) {
        if let About::Turn(Some(turn)) = &mut self.about {
            turn.add_output(&chunk.content, chunk.is_thought());
        }
    }

    /// Ends the request's span.
    pub fn end(mut self, at: SystemTime) -> SpanData {
        let attributes = &mut self.span.attributes;
        match &self.about {
            About::Turn(Some(turn)) => {
                attributes.extend(turn.attributes(self.stop.as_deref().unwrap_or("error")));
            }
            About::Mcp(Some(call)) => attributes.extend(call.attributes()),
            _ => {}
        }
        end(self.span, at)
    }

    /// Handles an answer, or a changed version of it. Returns the usage of a turn.
    pub fn answer(&mut self, line: &Line, from: &str) -> Option<Usage> {
        let is_first = !std::mem::replace(&mut self.is_answered, true);
        if let About::Permission { choices, outcome } = &mut self.about {
            let chosen = chosen(line, choices);
            // The part that changes the outcome has decided.
            if is_first || chosen != *outcome {
                *outcome = chosen;
                let decided = [mapping::OUTCOME, mapping::DECIDER];
                let attributes = &mut self.span.attributes;
                attributes.retain(|attribute| !decided.contains(&attribute.key.as_str()));
                let about = [(decided[0], chosen), (decided[1], Some(from))];
                attributes.extend(names(&about));
            }
        }
        if !is_first {
            return None;
        }
        if line.error.is_some() {
            let code = at::<i64>(line.error.as_deref(), place::CODE).to_string();
            fail(&mut self.span, &code);
            let status = KeyValue::new(mapping::STATUS_CODE, code);
            self.span.attributes.push(status);
        }
        match &mut self.about {
            About::Turn(_) => {
                self.stop(&at::<String>(line.result.as_deref(), place::STOP_REASON));
                let usage: Option<Usage> = at(line.result.as_deref(), place::USAGE);
                let used = usage.iter().flat_map(used);
                self.span.attributes.extend(used);
                return usage;
            }
            About::Mcp(content) => {
                if let Some(content) = content {
                    content.set_result(line.result.as_deref());
                }
                if at(line.result.as_deref(), place::MCP_ERROR) {
                    fail(&mut self.span, mapping::TOOL_ERROR);
                }
                let about = [(mapping::PROVIDER, Some(from))];
                self.span.attributes.extend(names(&about));
            }
            About::Permission { .. } => {}
        }
        None
    }

    /// Sets the stop reason of a turn.
    pub fn stop(&mut self, reason: &str) {
        self.stop = identifier(reason).map(str::to_owned);
        if self.stop.is_some() {
            let reasons = list(mapping::FINISH_REASONS, [reason].into_iter());
            self.span.attributes.push(reasons);
        }
    }
}

fn chosen(line: &Line, choices: &HashMap<String, &'static str>) -> Option<&'static str> {
    let text = |pointer| at::<String>(line.result.as_deref(), pointer);
    match text(place::OUTCOME).as_str() {
        "selected" => choices.get(&text(place::OPTION)).copied(),
        "cancelled" => Some("cancelled"),
        _ => None,
    }
}

fn used(usage: &Usage) -> impl Iterator<Item = KeyValue> + use<> {
    let counts = [
        (mapping::INPUT_TOKENS, usage.input),
        (mapping::OUTPUT_TOKENS, usage.output),
        (mapping::REASONING_TOKENS, usage.thought),
        (mapping::CACHE_READ_TOKENS, usage.cached_read),
        (mapping::CACHE_CREATION_TOKENS, usage.cached_write),
    ];
    counts.into_iter().filter_map(|(key, count)| {
        let count = i64::try_from(count?).ok()?;
        Some(KeyValue::new(key, count))
    })
}
