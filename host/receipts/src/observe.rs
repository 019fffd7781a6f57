//! Makes records of what the trace observes.
//!
//! Of a chain in front of an agent, these are recorded: each request that crosses one of its ends and its answer, each
//! tool call that the agent reports, and each stop of a turn; of every chain, each decision of a proxy that is more
//! than passing a message on, and all that are about a permission or a tool run; and when a proxy breaks, or is given up.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::time::SystemTime;

use humantime::format_rfc3339_micros;
use serde::Deserialize;
use serde_json::value::RawValue;

use acp_chain_acp::{CANCEL, CANCEL_REQUEST, HOOK, PERMISSION, PROMPT, UPDATE};
use acp_chain_recorder::{About, Content, Decision, Event, Line, Observer, Role, State};
use acp_chain_rpc::{Kind, Message, member, text_member, value_at};

use crate::client::Client;
use crate::keys::DigestKey;
use crate::record::{LONGEST, Record, VERSION, What, name};

/// How many open permission requests of a connection are remembered, the newest ones, to know the kinds of their
/// options.
const OPEN: usize = 64;

/// How many options of a permission request are remembered.
const OPTIONS: usize = 32;

/// The longest id of an option that is remembered, in bytes.
const OPTION: usize = 256;

/// The updates by which an agent reports tool calls.
const TOOL_CALLS: &[&str] = &["tool_call", "tool_call_update", "tool_call_content_chunk"];

/// Records what happens in the chains of this process.
pub struct Receipts {
    client: Client,
    digests: DigestKey,
    connections: HashMap<String, Connection>,
}

/// What is remembered of a connection.
struct Connection {
    /// Whether the chain has the ends: one within another has its parent at both.
    has_ends: bool,
    /// The options of open permission requests.
    options: BTreeMap<u64, Vec<PermissionOption>>,
}

/// An option of a permission request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    kind: String,
}

/// A tool call in an update or a permission request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolCall {
    #[serde(rename = "toolCallId")]
    id: Option<String>,
    kind: Option<String>,
    status: Option<String>,
}

impl Receipts {
    /// Hands records over to the process that has the log.
    pub fn new(client: Client) -> Self {
        Self {
            digests: client.digests().clone(),
            client,
            connections: HashMap::new(),
        }
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        if line.len() > LONGEST {
            return Err(io::Error::other("a record is too long"));
        }
        line.push(b'\n');
        self.client.send(&line)
    }

    /// A record of a connection, with what is known of the message that it is about.
    fn record(&self, connection: &str, time: SystemTime, what: What, about: &About) -> Record {
        let session = about.session.as_deref();
        Record {
            connection: Some(connection.to_owned()),
            method: Some(self.name(&about.method)),
            session: session.map(|session| self.name(session)),
            message: about.message.map(Into::into),
            request: about.request,
            ..Record::new(stamp(time), what)
        }
    }

    fn name(&self, text: &str) -> String {
        name(text, |text| self.digests.digest(text))
    }

    fn digest(&self, message: &Message) -> String {
        self.digests.digest(message.body())
    }

    /// The description of a chain; one that is too long is there as its digest.
    fn chain(&self, text: &str) -> io::Result<Box<RawValue>> {
        let is_short = text.len() < LONGEST / 2;
        let kept = if is_short {
            text.to_owned()
        } else {
            format!("\"#{}\"", self.digests.digest(text))
        };
        Ok(RawValue::from_string(kept)?)
    }

    /// The record of a message that crosses; `None` if it is of no interest.
    fn crossed(
        &mut self,
        connection: &str,
        time: SystemTime,
        from: &str,
        to: &str,
        about: &About,
        message: &Message,
    ) -> Option<Record> {
        let method = &*about.method;
        let is_end = |part| part == "client" || part == "agent";
        let (what, call) = match message.kind() {
            Kind::Notification if method == UPDATE && from == "agent" => {
                (What::Tool, Some(reported(message)?))
            }
            Kind::Notification if method == CANCEL_REQUEST && from == "client" => {
                (What::Stop, None)
            }
            Kind::Notification if method != CANCEL => return None,
            _ if !is_end(from) && !is_end(to) => return None,
            Kind::Notification => (What::Stop, None),
            Kind::Request => (What::Request, asked_about(method, message)),
            Kind::Result | Kind::Error => (What::Answer, None),
        };
        let mut record = self.record(connection, time, what, about);
        (record.from, record.to) = (Some(from.to_owned()), Some(to.to_owned()));
        record.content = Some(self.digest(message));
        if let Some(call) = call {
            self.name_call(&mut record, &call);
        }
        match (what, about.request) {
            (What::Request, Some(request)) if method == PERMISSION => {
                self.remember(connection, request, message);
            }
            (What::Answer, _) => {
                record.outcome = Some(self.outcome(connection, about, message));
                self.forget(connection, about, to);
            }
            _ => {}
        }
        Some(record)
    }

    /// The record of a decision; `None` if it only passes a message on.
    fn decided(
        &self,
        connection: &str,
        time: SystemTime,
        proxy: &str,
        decision: Decision,
        about: &About,
        content: Option<&Content>,
    ) -> Option<Record> {
        if decision == Decision::Forward && !is_guarded(&about.method) {
            return None;
        }
        let mut record = self.record(connection, time, What::Decision, about);
        (record.proxy, record.decision) =
            (Some(proxy.to_owned()), Some(decision.as_str().to_owned()));
        if let Some(Content { before, after }) = content {
            record.before = Some(self.digest(before));
            record.after = after.as_ref().map(|after| self.digest(after));
            if let Some(call) = asked_about(&about.method, before) {
                self.name_call(&mut record, &call);
            }
            if let Some(answer) = after.as_ref().filter(|after| after.kind().is_response()) {
                record.outcome = Some(self.outcome(connection, about, answer));
            }
        }
        Some(record)
    }

    fn name_call(&self, record: &mut Record, call: &ToolCall) {
        let named = |text: Option<&String>| text.map(|text| self.name(text));
        record.call = named(call.id.as_ref());
        record.kind = named(call.kind.as_ref());
        record.outcome = named(call.status.as_ref());
    }

    /// What an answer says, as the protocol names it.
    fn outcome(&self, connection: &str, about: &About, answer: &Message) -> String {
        if answer.kind() == Kind::Error {
            return "error".to_owned();
        }
        let said = match &*about.method {
            PROMPT => text_member(answer.body(), "stopReason"),
            PERMISSION => self.permission(connection, about, answer),
            _ => None,
        };
        said.map_or_else(|| "result".to_owned(), |said| self.name(&said))
    }

    /// The kind of the option that was chosen, if it is known, or else what became of the question.
    fn permission(&self, connection: &str, about: &About, answer: &Message) -> Option<String> {
        let outcome = member(answer.body(), "outcome")?;
        let chosen = text_member(outcome, "optionId");
        let open = self.connections.get(connection)?;
        let options = about.request.and_then(|request| open.options.get(&request));
        let is_chosen = |option: &&PermissionOption| Some(&option.option_id) == chosen.as_ref();
        let option = options.into_iter().flatten().find(is_chosen);
        let kind = option.map(|option| option.kind.clone());
        kind.or_else(|| text_member(outcome, "outcome"))
    }

    fn remember(&mut self, connection: &str, request: u64, message: &Message) {
        let Some(known) = self.connections.get_mut(connection) else {
            return;
        };
        let all = value_at::<Vec<PermissionOption>>(message.body(), "/options");
        if let Some(mut options) = all {
            options.retain(|option| option.option_id.len().max(option.kind.len()) <= OPTION);
            options.truncate(OPTIONS);
            options.shrink_to_fit();
            known.options.insert(request, options);
        }
        if known.options.len() > OPEN {
            known.options.pop_first();
        }
    }

    /// Forgets the options of a request whose answer has come to the agent.
    fn forget(&mut self, connection: &str, about: &About, to: &str) {
        if let (Some(known), Some(request)) = (self.connections.get_mut(connection), about.request)
            && to == "agent"
        {
            known.options.remove(&request);
        }
    }
}

impl Observer for Receipts {
    fn passes_over(method: &str, message: &Message, decision: Option<Decision>) -> bool {
        match decision {
            Some(decision) => decision == Decision::Forward && !is_guarded(method),
            None if message.kind() != Kind::Notification => false,
            // The most frequent first.
            None if method == UPDATE => !is_tool_call(message),
            None => method != CANCEL && method != CANCEL_REQUEST,
        }
    }

    fn began(&mut self, heading: &Line, chain: Option<&str>) -> io::Result<()> {
        let is_proxy = heading.role == Some(Role::Proxy);
        let known = Connection {
            has_ends: !is_proxy,
            options: BTreeMap::new(),
        };
        self.connections.insert(heading.connection.clone(), known);
        let named = |text: Option<&String>| text.map(|text| self.name(text));
        let role = if is_proxy { "proxy" } else { "agent" };
        let record = Record {
            connection: Some(heading.connection.clone()),
            version: Some(VERSION),
            program: heading.program.clone(),
            role: Some(role.to_owned()),
            user: named(heading.user.as_ref()),
            agent: named(heading.agent.as_ref()),
            chain: chain.map(|chain| self.chain(chain)).transpose()?,
            ..Record::new(heading.time.clone(), What::Chain)
        };
        self.write(&record)
    }

    fn happened(&mut self, connection: &str, time: SystemTime, event: &Event) -> io::Result<()> {
        let Some(known) = self.connections.get(connection) else {
            return Ok(());
        };
        let record = match event {
            Event::Crossed {
                from,
                to,
                about,
                message,
                ..
            } if known.has_ends => self.crossed(connection, time, from, to, about, message),
            Event::Decided {
                proxy,
                decision,
                about,
                content,
                ..
            } => {
                let content = content.as_deref();
                self.decided(connection, time, proxy, *decision, about, content)
            }
            Event::Became {
                proxy,
                state,
                why: Some(_),
                ..
            } => Some(broken(connection, time, proxy, *state)),
            // What was spared in a dry run was not decided.
            Event::Crossed { .. }
            | Event::Became { .. }
            | Event::Refused { .. }
            | Event::Spared { .. } => None,
        };
        record.map_or(Ok(()), |record| self.write(&record))
    }

    fn ended(&mut self, connection: &str, time: SystemTime) -> io::Result<()> {
        self.connections.remove(connection);
        self.write(&Record {
            connection: Some(connection.to_owned()),
            ..Record::new(stamp(time), What::End)
        })
    }

    fn settle(&mut self) -> io::Result<()> {
        self.client.sync()
    }
}

/// The record of a proxy that breaks, or is given up: in its place, the host decides.
fn broken(connection: &str, time: SystemTime, proxy: &str, state: State) -> Record {
    Record {
        connection: Some(connection.to_owned()),
        proxy: Some(proxy.to_owned()),
        decision: Some(state.as_str().to_owned()),
        ..Record::new(stamp(time), What::Decision)
    }
}

fn stamp(time: SystemTime) -> String {
    format_rfc3339_micros(time).to_string()
}

/// The tool call in an update; `None` if it is about something else.
fn reported(update: &Message) -> Option<ToolCall> {
    is_tool_call(update).then(|| value_at(update.body(), "/update").unwrap_or_default())
}

fn is_tool_call(update: &Message) -> bool {
    let kind = update.update();
    kind.is_some_and(|kind| TOOL_CALLS.contains(&kind))
}

/// Whether all decisions about such a message are recorded: it is about a permission, or a tool run.
fn is_guarded(method: &str) -> bool {
    method == PERMISSION || method.starts_with(HOOK)
}

/// The tool call that a request is about, if it is about one.
fn asked_about(method: &str, request: &Message) -> Option<ToolCall> {
    let call = is_guarded(method).then(|| value_at(request.body(), "/toolCall"));
    call.flatten()
}
