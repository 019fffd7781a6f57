//! Requests with spans: turns, permissions, and MCP calls.

use std::collections::HashMap;
use std::time::SystemTime;

use acp_chain_acp::{PERMISSION, PROMPT};
use acp_chain_trace::Line;
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanContext, SpanKind, Status};
use opentelemetry_sdk::trace::SpanData;
use serde_json::value::RawValue;

use crate::content::{Call, Room, Turn};
use crate::context::remote;
use crate::mapping::{self, identifier};
use crate::said::{self, Usage, meta, read};
use crate::span::{end, list, names, with};

/// The agent, as it calls itself.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub name: Option<String>,
    pub version: Option<String>,
}

/// What a request is about.
#[derive(Debug)]
pub enum About {
    Turn,
    Permission {
        choices: HashMap<String, &'static str>,
        outcome: Option<&'static str>,
    },
    Mcp,
}

/// Its contents, if exported.
#[derive(Debug)]
pub enum Content {
    Turn(Turn),
    Call(Call),
}

/// The properties of a new request.
pub struct Asked {
    pub about: About,
    pub name: String,
    pub kind: SpanKind,
    pub attributes: Vec<KeyValue>,
    /// The parent span that it names.
    pub remote: Option<SpanContext>,
    /// Its tool call.
    pub tool: Option<String>,
}

/// An unanswered request.
#[derive(Debug)]
pub struct Request {
    pub asker: String,
    pub session: Option<String>,
    pub about: About,
    /// Whether somebody has answered: later lines are changed versions of that.
    pub is_answered: bool,
    pub content: Option<Content>,
    /// Why a turn ended.
    pub stop: Option<String>,
    pub span: SpanData,
}

impl Content {
    /// `None` for a request without exported contents.
    pub fn new(about: &About, room: &Room, params: &RawValue) -> Option<Self> {
        match about {
            About::Turn => Some(Self::Turn(Turn::new(room))),
            About::Mcp => {
                let call: said::Mcp = read(Some(params));
                let named: said::Named = read(call.params);
                let mut content = Call::new(room);
                content.made(named.arguments);
                Some(Self::Call(content))
            }
            About::Permission { .. } => None,
        }
    }
}

impl Asked {
    /// `None` for a request without a span.
    pub fn read(line: &Line, params: &RawValue, agent: &Agent) -> Option<Self> {
        let remote = meta(params).as_ref().and_then(remote);
        match line.method.as_deref()? {
            PROMPT => Some(Self::turn(agent, remote)),
            PERMISSION => Some(Self::permission(params, remote)),
            // The host passes a call on as its own, which has no sender's id.
            "mcp/message" => Self::mcp(params, line.id.as_deref()?, remote),
            _ => None,
        }
    }

    fn turn(agent: &Agent, remote: Option<SpanContext>) -> Self {
        Self {
            about: About::Turn,
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
        let asked: said::Asked = read(Some(params));
        Self {
            about: About::Permission {
                choices: said::choices(&asked),
                outcome: None,
            },
            name: mapping::PERMISSION.to_owned(),
            kind: SpanKind::Internal,
            attributes: names(&[(mapping::TOOL_CALL, Some(&asked.call.id))]),
            remote,
            tool: Some(asked.call.id.into_owned()),
        }
    }

    fn mcp(params: &RawValue, id: &RawValue, remote: Option<SpanContext>) -> Option<Self> {
        let call: said::Mcp = read(Some(params));
        let method = identifier(&call.method)?;
        let named: said::Named = read(call.params);
        let target = identifier(&named.name);
        let (tool, prompt) = match method {
            "tools/call" => (target, None),
            "prompts/get" => (None, target),
            _ => (None, None),
        };
        let operation = (method == "tools/call").then_some(mapping::TOOL);
        let inner = call.params.and_then(meta);
        Some(Self {
            about: About::Mcp,
            name: with(method, target.filter(|_| tool.or(prompt).is_some())),
            kind: SpanKind::Client,
            attributes: names(&[
                (mapping::MCP_METHOD, Some(method)),
                (mapping::MCP_SESSION, Some(&call.connection)),
                (mapping::TOOL_NAME, tool),
                (mapping::PROMPT_NAME, prompt),
                (mapping::OPERATION, operation),
                (mapping::REQUEST_ID, Some(id.get().trim_matches('"'))),
            ]),
            // MCP's own `_meta` is the caller's, the outer one the carrier's.
            remote: inner.as_ref().and_then(crate::context::remote).or(remote),
            tool: None,
        })
    }
}

impl Request {
    /// It has reached the agent.
    pub fn told(&mut self, params: &RawValue) {
        if let Some(Content::Turn(turn)) = &mut self.content {
            let said: said::Prompt = read(Some(params));
            turn.told(&said.prompt);
        }
    }

    /// The agent says something in the turn.
    pub fn said(&mut self, chunk: &said::Chunk) {
        if let Some(Content::Turn(turn)) = &mut self.content {
            turn.said(&chunk.content, chunk.is_thought());
        }
    }

    /// It has ended.
    pub fn end(mut self, at: SystemTime) -> SpanData {
        let attributes = &mut self.span.attributes;
        match &self.content {
            Some(Content::Turn(turn)) => {
                attributes.extend(turn.attributes(self.stop.as_deref().unwrap_or("error")));
            }
            Some(Content::Call(call)) => attributes.extend(call.attributes()),
            None => {}
        }
        end(self.span, at)
    }

    /// Somebody answers, or changes an answer. Returns the usage of a turn.
    pub fn answer(&mut self, line: &Line, from: &str) -> Option<Usage> {
        let is_first = !std::mem::replace(&mut self.is_answered, true);
        if let About::Permission { choices, outcome } = &mut self.about {
            let chosen = chosen(line, choices);
            // Whoever changes the answer has decided.
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
            let failed: said::Failed = read(line.error.as_deref());
            let code = failed.code.to_string();
            self.fail(&code);
            self.span
                .attributes
                .push(KeyValue::new(mapping::STATUS_CODE, code));
        }
        match self.about {
            About::Turn => {
                let said: said::Prompted = read(line.result.as_deref());
                self.stop(&said.stop);
                let used = said.usage.iter().flat_map(used);
                self.span.attributes.extend(used);
                return said.usage;
            }
            About::Mcp => {
                let said: said::McpAnswered = read(line.result.as_deref());
                if said.is_error {
                    self.fail(mapping::TOOL_ERROR);
                }
                if let Some(Content::Call(call)) = &mut self.content {
                    call.came(line.result.as_deref());
                }
                let about = [(mapping::PROVIDER, Some(from))];
                self.span.attributes.extend(names(&about));
            }
            About::Permission { .. } => {}
        }
        None
    }

    /// A turn ends for this reason.
    pub fn stop(&mut self, reason: &str) {
        self.stop = identifier(reason).map(str::to_owned);
        if self.stop.is_some() {
            let reasons = list(mapping::FINISH_REASONS, [reason].into_iter());
            self.span.attributes.push(reasons);
        }
    }

    /// The text of an error may be anything: only its code is exported.
    fn fail(&mut self, code: &str) {
        self.span.status = Status::error("");
        let code = KeyValue::new(mapping::ERROR_TYPE, code.to_owned());
        self.span.attributes.push(code);
    }
}

fn chosen(line: &Line, choices: &HashMap<String, &'static str>) -> Option<&'static str> {
    let said: said::Answered = read(line.result.as_deref());
    match &*said.outcome.outcome {
        "selected" => choices.get(&*said.outcome.option).copied(),
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
