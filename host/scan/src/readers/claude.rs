//! Claude: `~/.claude/projects/FOLDER/SESSION.jsonl`, and `SESSION/subagents/agent-ID.jsonl`. Older versions write
//! subagents into the session's file (`isSidechain`).
//!
//! A message of the model is a line for each of its blocks, and each line has the usage of the message so far. A prompt
//! that the user writes while the model works is an attachment (`queued_command`).

use std::collections::HashMap;

use acp_chain_hooks::recorded;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::{OpenCalls, hash};
use super::{List, Reader, output, short, string, text_of};
use crate::event::Event;
use crate::tokens::{Tokens, millionths};

#[derive(Default)]
pub(super) struct Claude {
    session: Option<String>,
    calls: OpenCalls,
    /// What was counted of the usage of messages of the model, by the hashes of their ids.
    counted: HashMap<u64, Tokens>,
    /// When the process whose cost was reported last was started, and that cost.
    cost: (String, u64),
}

/// The usage of how many messages is remembered. Past it, that of all is forgotten.
const MOST: usize = 65_536;

#[serde_with::apply(
    Option<String> => #[serde(default, deserialize_with = "short")],
    Option<&RawValue> => #[serde(borrow)],
    bool => #[serde(default)],
)]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'l> {
    #[serde(rename = "type", default)]
    kind: String,
    session_id: Option<String>,
    cwd: Option<String>,
    agent_id: Option<String>,
    is_meta: bool,
    is_sidechain: bool,
    is_compact_summary: bool,
    message: Option<&'l RawValue>,
    attachment: Option<&'l RawValue>,
    #[serde(rename = "totalCostUSD")]
    total_cost: Option<f64>,
    start_time: Option<&'l RawValue>,
}

/// An attachment of any kind: those of other kinds may have members of any form.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    prompt: Option<&'a RawValue>,
    is_meta: Option<&'a RawValue>,
    origin: Option<&'a RawValue>,
}

/// Who has written something.
#[derive(Deserialize)]
struct Origin {
    kind: String,
}

#[derive(Deserialize)]
struct Message<'m> {
    id: Option<String>,
    model: Option<String>,
    #[serde(borrow)]
    content: Option<&'m RawValue>,
    usage: Option<Tokens>,
}

/// A block of content, of any kind.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
struct Block<'b> {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<&'b RawValue>,
    tool_use_id: Option<String>,
    content: Option<&'b RawValue>,
    is_error: Option<bool>,
}

impl Line<'_> {
    /// Whether it is Claude's own, and not the user's.
    fn is_agents(&self) -> bool {
        let is_own = self.is_meta || self.is_compact_summary || self.is_sidechain;
        is_own || self.agent_id.is_some()
    }
}

impl Reader for Claude {
    fn read(&mut self, line: &[u8], events: &mut Vec<Event>) -> serde_json::Result<()> {
        let line: Line = serde_json::from_slice(line)?;
        match (&*line.kind, line.message) {
            ("user", Some(message)) => {
                let message: Message = serde_json::from_str(message.get())?;
                self.begin(&line, events);
                self.user(&line, &message, events)
            }
            ("assistant", Some(message)) => {
                let message: Message = serde_json::from_str(message.get())?;
                self.begin(&line, events);
                self.assistant(&line, &message, events)
            }
            ("attachment", _) => self.attached(&line, events),
            ("cost-state", _) => {
                self.cost(&line, events);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Claude {
    fn begin(&mut self, line: &Line, events: &mut Vec<Event>) {
        if line.session_id.is_some() && line.session_id != self.session {
            self.session.clone_from(&line.session_id);
            events.extend(line.session_id.clone().map(|id| Event::Session {
                id,
                cwd: line.cwd.clone(),
            }));
        }
    }

    fn user(
        &mut self,
        line: &Line,
        message: &Message,
        events: &mut Vec<Event>,
    ) -> serde_json::Result<()> {
        let Some(content) = message.content else {
            return Ok(());
        };
        let mut texts = Vec::new();
        match string(content) {
            Some(text) => texts.push(text),
            None => {
                let List(blocks): List<Block> = serde_json::from_str(content.get())?;
                for block in blocks {
                    match (&*block.kind, block.text) {
                        ("text", Some(text)) => texts.push(text),
                        ("tool_result", _) => {
                            let id = block.tool_use_id.unwrap_or_default();
                            let failed = block.is_error.unwrap_or_default();
                            let result = output(block.content);
                            events.extend(self.calls.end(&id, result, failed).map(Event::tool));
                        }
                        _ => {}
                    }
                }
            }
        }
        if !texts.is_empty() && !line.is_agents() {
            events.push(Event::Prompt(texts));
        }
        Ok(())
    }

    /// A prompt that the user has written while the model worked.
    fn attached(&mut self, line: &Line, events: &mut Vec<Event>) -> serde_json::Result<()> {
        let Some(attachment) = line.attachment else {
            return Ok(());
        };
        let attachment: Attachment = serde_json::from_str(attachment.get())?;
        let is_queued = attachment.kind.and_then(string).as_deref() == Some("queued_command");
        let Some(prompt) = attachment.prompt.filter(|_| is_queued) else {
            return Ok(());
        };
        let origin: Option<Origin> = serde_json::from_str(text_of(attachment.origin))?;
        let is_users = origin.is_none_or(|origin| origin.kind == "human");
        if !is_users || text_of(attachment.is_meta) == "true" || line.is_agents() {
            return Ok(());
        }
        let texts = match string(prompt) {
            Some(text) => vec![text],
            None => {
                let List(blocks): List<Block> = serde_json::from_str(prompt.get())?;
                blocks.into_iter().filter_map(|block| block.text).collect()
            }
        };
        self.begin(line, events);
        events.extend((!texts.is_empty()).then_some(Event::Prompt(texts)));
        Ok(())
    }

    fn assistant(
        &mut self,
        line: &Line,
        message: &Message,
        events: &mut Vec<Event>,
    ) -> serde_json::Result<()> {
        if let Some(usage) = message.usage {
            let id = message.id.as_deref().unwrap_or_default();
            let tokens = self.uncounted(id, usage);
            let model = message.model.clone().unwrap_or_default();
            events.extend((!tokens.is_none()).then_some(Event::Used { model, tokens }));
        }
        let Some(content) = message.content.filter(|content| string(content).is_none()) else {
            return Ok(());
        };
        let List(blocks): List<Block> = serde_json::from_str(content.get())?;
        for block in blocks.iter().filter(|block| block.kind == "tool_use") {
            let Some(tool) = &block.name else { continue };
            let mut call = recorded("claude", tool, text_of(block.input));
            call.call.clone_from(&block.id);
            call.cwd.clone_from(&line.cwd);
            call.subagent.clone_from(&line.agent_id);
            self.calls.begin(&call);
            events.push(Event::tool(call));
        }
        Ok(())
    }

    /// What is new in the usage of a message.
    fn uncounted(&mut self, id: &str, tokens: Tokens) -> Tokens {
        if self.counted.len() >= MOST {
            self.counted.clear();
        }
        let before = self.counted.insert(hash(id), tokens).unwrap_or_default();
        tokens.beyond(before)
    }

    /// The cost of a process so far.
    fn cost(&mut self, line: &Line, events: &mut Vec<Event>) {
        let Some(total) = line.total_cost.map(millionths) else {
            return;
        };
        let process = text_of(line.start_time).to_owned();
        let is_same = self.cost.0 == process;
        let before = if is_same { self.cost.1 } else { 0 };
        let amount = total.saturating_sub(before);
        if amount > 0 {
            self.begin(line, events);
            let currency = "USD".to_owned();
            events.push(Event::Cost { currency, amount });
        }
        self.cost = (process, total.max(before));
    }
}
