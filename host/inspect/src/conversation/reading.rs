//! Which item each line of a turn belongs to.

use std::collections::HashMap;

use acp_chain_acp::{CANCEL, Change, HOOK, PERMISSION, PROMPT};
use acp_chain_trace::{Decision, Kind, Line};

use super::{ITEMS, Item, NOTES, Part, TITLE, is_end};
use crate::row::micros;
use crate::said::{Members, items, one_line, said, string, words};

/// A turn, while its lines are read.
#[derive(Default)]
pub struct Reading {
    /// The connection and the session of the turn.
    of: Option<(String, Option<String>)>,
    pub(super) items: Vec<Item>,
    /// The items of messages and requests by their numbers, and of tool calls by their ids.
    messages: HashMap<u64, usize>,
    requests: HashMap<u64, usize>,
    tools: HashMap<String, usize>,
    /// The text that the agent is sending.
    open: Option<usize>,
    /// The total length of the texts, in bytes.
    pub(super) used: usize,
    pub(super) is_cut: bool,
    /// Whether the next turn of the session has begun.
    pub(super) is_over: bool,
}

impl Reading {
    /// Takes in the next line. The first one has the prompt.
    pub fn take(&mut self, row: u64, line: &Line) {
        if self.is_over {
            return;
        }
        let (connection, session) = self
            .of
            .get_or_insert_with(|| (line.connection.clone(), line.session.clone()));
        let is_of_it =
            *connection == line.connection && (line.session.is_none() || line.session == *session);
        if !is_of_it {
            return;
        }
        if let Some((proxy, decision)) = line.decided() {
            self.decided(row, line, proxy, decision);
        } else if let Some((from, to, kind)) = line.crossed() {
            // The host's replacement of the message follows.
            if to == "acp-chain" {
                return;
            }
            let at = match kind {
                Kind::Request => self.asked(row, line, from),
                Kind::Response => self.answered(row, line, from, to),
                Kind::Notification => self.told(row, line, from),
            };
            if let (Some(at), Some(message)) = (at, line.message) {
                self.messages.insert(message, at);
            }
        }
    }

    fn known(&self, line: &Line) -> Option<usize> {
        let message = line.message.and_then(|message| self.messages.get(&message));
        let request = || self.requests.get(&line.request?);
        message.or_else(request).copied()
    }

    fn add(&mut self, part: Part, row: u64, line: &Line) -> Option<usize> {
        if self.items.len() >= ITEMS {
            self.is_cut = true;
            return None;
        }
        self.items.push(Item {
            part,
            row,
            from: line.from.clone().unwrap_or_default(),
            began: micros(&line.time),
            ended: -1,
            ..Item::default()
        });
        Some(self.items.len() - 1)
    }

    /// Handles a request, on any of its hops.
    fn asked(&mut self, row: u64, line: &Line, from: &str) -> Option<usize> {
        let method = line.method.as_deref().unwrap_or_default();
        let body = Members::of_body(line);
        let tool = Members::of(body.tool_call);
        if is_of_connection(method, line) {
            return None;
        }
        let at = match self.known(line) {
            Some(at) => at,
            None if is_end(from) => {
                self.is_over = method == PROMPT && !self.items.is_empty();
                if self.is_over {
                    return None;
                }
                let part = match method {
                    PROMPT => Part::Prompt,
                    PERMISSION => Part::Permission,
                    _ if method.starts_with(HOOK) => Part::Hook,
                    _ => Part::Request,
                };
                self.open = self.open.filter(|_| from != "agent");
                let at = self.add(part, row, line)?;
                let named = matches!(part, Part::Permission | Part::Hook);
                let id = string(tool.tool_call_id).map(|id| one_line(&id, TITLE));
                let known = id.and_then(|id| self.tools.get(&id));
                let title_before = || known.map(|tool| self.items[*tool].title.clone());
                let of_tool = string(tool.title).or_else(title_before);
                let kind = || said(line).0.map(|kind| format!("{method} {kind}"));
                let title = of_tool.filter(|_| named).or_else(kind);
                self.items[at].title = one_line(title.as_deref().unwrap_or(method), TITLE);
                at
            }
            // A native proxy sends what it got as a request of its own.
            None => match self.passed_on(method) {
                Some(at) => at,
                None => {
                    let (kind, text) = said(line);
                    let what = format!("{} {text}", kind.as_deref().unwrap_or(method));
                    let at = self.items.len().checked_sub(1)?;
                    self.note(at, row, from, "ask", &what);
                    return None;
                }
            },
        };
        let item = &mut self.items[at];
        for option in items(body.options) {
            let option = Members::of(Some(option));
            let id = string(option.option_id);
            let name = string(option.name);
            if let (Some(id), Some(name)) = (id, name)
                && item.options.len() < NOTES
            {
                let [id, name] = [id, name].map(|text| one_line(&text, TITLE));
                item.options.insert(id, name);
            }
        }
        let text = match item.part {
            Part::Prompt => words(body.prompt),
            Part::Permission | Part::Hook => tool.input().or_else(|| words(tool.content)),
            _ => Some(said(line).1),
        };
        self.requests
            .extend(line.request.map(|number| (number, at)));
        self.say(at, row, line, &text.unwrap_or_default(), Change::Sets);
        Some(at)
    }

    /// The item of an open request that a proxy sends on as its own.
    fn passed_on(&self, method: &str) -> Option<usize> {
        let part = match method {
            PROMPT => Part::Prompt,
            PERMISSION => Part::Permission,
            _ => return None,
        };
        let is_it = |item: &Item| item.part == part && item.ended < 0;
        self.items.iter().rposition(is_it)
    }

    /// Handles an answer, on any of its hops.
    fn answered(&mut self, row: u64, line: &Line, from: &str, to: &str) -> Option<usize> {
        let at = *self.requests.get(&line.request?)?;
        let text = one_line(&said(line).1, TITLE);
        let is_error = line.error.is_some();
        let item = &mut self.items[at];
        let answer = item.options.get(&text).cloned().unwrap_or(text);
        if item.by.is_empty() {
            item.by = from.to_owned();
        } else if item.by != from && item.status != answer && !is_end(from) {
            self.note(at, row, from, "change", &answer);
        }
        let item = &mut self.items[at];
        item.status.clone_from(&answer);
        if to != item.from {
            return Some(at);
        }
        item.ended = micros(&line.time);
        if item.part == Part::Prompt && (is_error || !answer.is_empty()) {
            return self.end(row, line, &answer, is_error);
        }
        Some(at)
    }

    fn end(&mut self, row: u64, line: &Line, why: &str, is_error: bool) -> Option<usize> {
        let at = self.add(Part::End, row, line)?;
        let item = &mut self.items[at];
        item.status = why.to_owned();
        if is_error {
            item.title = "error".to_owned();
        }
        Some(at)
    }

    /// Handles a notification, on any of its hops.
    fn told(&mut self, row: u64, line: &Line, from: &str) -> Option<usize> {
        if line.method.as_deref() == Some(CANCEL) {
            let known = self.known(line);
            return known.or_else(|| self.add(Part::Cancel, row, line));
        }
        let (kind, update) = Members::update_of(line)?;
        let part = match &*kind {
            "agent_message_chunk" | "agent_message" => Part::Message,
            "agent_thought_chunk" | "agent_thought" => Part::Thought,
            "user_message_chunk" | "user_message" => Part::User,
            "tool_call" | "tool_call_update" | "tool_call_content_chunk" => Part::Tool,
            "plan" | "plan_update" => Part::Plan,
            "state_update" if string(update.state).as_deref() == Some("idle") => {
                let is_new = self.known(line).is_none();
                let why = string(update.stop_reason).unwrap_or_default();
                return is_new.then(|| self.end(row, line, &why, false))?;
            }
            _ => return None,
        };
        let known = self.known(line);
        let at = known.or_else(|| self.item_of(part, row, line, from, &update))?;
        if part == Part::Tool {
            self.tool(at, line, &update);
        }
        let text = words(update.content)
            .or_else(|| words(update.entries))
            .or_else(|| update.input());
        if let Some(text) = text {
            self.say(at, row, line, &text, Change::of(&kind));
        }
        Some(at)
    }

    /// The item that an update belongs to.
    fn item_of(
        &mut self,
        part: Part,
        row: u64,
        line: &Line,
        from: &str,
        update: &Members,
    ) -> Option<usize> {
        let is_stream = matches!(part, Part::Message | Part::Thought | Part::User);
        if part == Part::Tool {
            self.open = self.open.filter(|_| from != "agent");
            let id = one_line(&string(update.tool_call_id).unwrap_or_default(), TITLE);
            if let Some(at) = self.tools.get(&id) {
                return Some(*at);
            }
            let at = self.add(part, row, line)?;
            self.items[at].title.clone_from(&id);
            self.tools.insert(id, at);
            return Some(at);
        }
        let same = |item: &Item| item.part == part;
        let known = if from == "agent" && is_stream {
            self.open.filter(|at| same(&self.items[*at]))
        } else {
            // The rest of a text that a proxy held, or another state of a plan.
            self.items.iter().rposition(same)
        };
        let at = known.or_else(|| self.add(part, row, line))?;
        if from == "agent" {
            self.open = Some(at).filter(|_| is_stream);
        }
        Some(at)
    }

    fn tool(&mut self, at: usize, line: &Line, update: &Members) {
        let item = &mut self.items[at];
        if let Some(title) = string(update.title) {
            item.title = one_line(&title, TITLE);
        }
        if let Some(status) = string(update.status) {
            let is_over = matches!(&*status, "completed" | "failed" | "cancelled");
            if is_over && item.ended < 0 {
                item.ended = micros(&line.time);
            }
            item.status = one_line(&status, TITLE);
        }
    }

    /// Handles a decision of a proxy.
    fn decided(&mut self, row: u64, line: &Line, proxy: &str, decision: Decision) {
        if decision == Decision::Forward {
            return;
        }
        let Some(at) = self.known(line) else { return };
        let why = line.why.as_deref().unwrap_or_default();
        self.note(at, row, proxy, decision.as_str(), why);
        if matches!(decision, Decision::Refuse | Decision::Answer) {
            let item = &mut self.items[at];
            item.by = proxy.to_owned();
            item.ended = micros(&line.time);
            if decision == Decision::Refuse {
                item.status = "refused".to_owned();
            }
        }
    }
}

/// Whether a request belongs to a connection with an MCP server rather than to the turn: all but calls of tools, and
/// the host's copies of these for their provider.
fn is_of_connection(method: &str, line: &Line) -> bool {
    let is_call = || said(line).0.as_deref() == Some("tools/call");
    method.starts_with("mcp/") && (line.is_hosts_own() || !is_call())
}
