//! Traces of acp-chain: what the client sent, and what the agent reported by its hooks or, of calls without a hook, by
//! updates. Of a chain within another chain nothing is read, as the other one has the same; nor of one whose trace has a
//! newer version.

use std::collections::HashMap;

use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL, NEW, PROMPT, UPDATE};
use acp_chain_hooks::{self as hooks, Kind, Moment, recorded};
use acp_chain_rpc::value_at;
use acp_chain_trace::{Kind as Crossing, Line, Role, VERSION};
use serde::Deserialize;
use serde::de::Error;
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{Open, SeenIds, hash, whole_call};
use super::{LONGEST_NAME, Reader, output, short, text_of};
use crate::event::Event;
use crate::tokens::{Tokens, millionths};

/// How many sessions and set-ups are known at once. Past it, all are forgotten.
const MOST: usize = 10_000;

#[derive(Default)]
pub(super) struct Trace {
    /// The connections that are not read.
    passed_over: SeenIds,
    /// The folders of requests that set up sessions, by the hash of the connection and the number.
    setups: HashMap<(u64, u64), String>,
    /// The folders of sessions, by the hashes of their ids.
    folders: HashMap<u64, String>,
    session: Option<String>,
    /// The calls that hooks have reported.
    hooked: SeenIds,
    /// Calls that updates show.
    shown: Open<Shown>,
    /// The costs of sessions so far, by the hashes of their ids.
    costs: HashMap<u64, u64>,
}

/// What updates say of a call.
#[derive(Default)]
struct Shown {
    title: Option<String>,
    kind: Option<Kind>,
    input: Option<String>,
    output: Vec<String>,
}

/// The parameters of a request about a tool run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    #[serde(borrow)]
    tool_call: Call<'r>,
    server: Option<String>,
    subagent: Option<String>,
    #[serde(default, deserialize_with = "short")]
    cwd: Option<String>,
    output: Option<Vec<String>>,
}

/// A tool call, and an update of any kind.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'c> {
    #[serde(default)]
    session_update: String,
    tool_call_id: Option<String>,
    title: Option<String>,
    kind: Option<Kind>,
    status: Option<String>,
    raw_input: Option<&'c RawValue>,
    raw_output: Option<&'c RawValue>,
    content: Option<&'c RawValue>,
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    amount: f64,
    #[serde(default)]
    currency: String,
}

#[derive(Deserialize)]
struct Update<'u> {
    #[serde(borrow)]
    update: Call<'u>,
}

#[derive(Deserialize)]
struct TurnEnd {
    usage: Option<Tokens>,
}

impl Shown {
    /// The size of the texts, in bytes.
    fn texts(&self) -> usize {
        let all = self.title.iter().chain(&self.input).chain(&self.output);
        all.map(|text| size_of::<String>() + text.len()).sum()
    }
}

impl Reader for Trace {
    fn read(&mut self, line: &[u8], events: &mut Vec<Event>) -> serde_json::Result<()> {
        let line: Line = serde_json::from_slice(line)?;
        let is_newer = line.version.is_some_and(|version| version > VERSION);
        if is_newer || line.role == Some(Role::Proxy) {
            self.passed_over.is_new(&line.connection);
        }
        if is_newer {
            return Err(serde_json::Error::custom("it is of a newer version"));
        }
        let (Some((from, to, kind)), Some(method)) = (line.crossed(), line.method.as_deref())
        else {
            return Ok(());
        };
        if self.passed_over.has(&line.connection) {
            return Ok(());
        }
        let body = line.body().unwrap_or("null");
        match (from, kind, method) {
            ("client", Crossing::Request, PROMPT) => {
                let params: Value = serde_json::from_str(body)?;
                self.begin(&line, events);
                events.push(Event::Prompt(prompt(&params)));
            }
            ("client", Crossing::Request, method) if method.starts_with("session/") => {
                self.sets_up(&line, body, method);
            }
            ("agent", Crossing::Request, BEFORE_TOOL | AFTER_TOOL) => {
                let run: Run = serde_json::from_str(body)?;
                self.begin(&line, events);
                events.push(self.run(run, method));
            }
            ("agent", Crossing::Notification, UPDATE) => {
                let updated: Update = serde_json::from_str(body)?;
                self.update(&line, &updated.update, events);
            }
            ("agent", Crossing::Response, PROMPT) => {
                let ended: Option<TurnEnd> = serde_json::from_str(body)?;
                self.begin(&line, events);
                let used = ended.and_then(|ended| ended.usage);
                events.extend(used.map(|tokens| Event::Used {
                    model: String::new(),
                    tokens,
                }));
            }
            (_, Crossing::Response, _) if to == "client" => {
                let number = line.request.unwrap_or_default();
                let setup = self.setups.remove(&(hash(&line.connection), number));
                let session: Option<String> = value_at(body, "/sessionId");
                self.know(session.as_deref().or(line.session.as_deref()), setup);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Trace {
    /// A session is set up in a folder: the session may be named only in the answer.
    fn sets_up(&mut self, line: &Line, body: &str, method: &str) {
        let cwd = value_at(body, "/cwd").filter(|cwd: &String| cwd.len() <= LONGEST_NAME);
        let Some(cwd) = cwd else { return };
        if self.setups.len() >= MOST {
            self.setups.clear();
        }
        if let Some(number) = line.request {
            let name = (hash(&line.connection), number);
            self.setups.insert(name, cwd.clone());
        }
        if method != NEW {
            self.know(line.session.as_deref(), Some(cwd));
        }
    }

    fn know(&mut self, session: Option<&str>, folder: Option<String>) {
        if self.folders.len() >= MOST {
            self.folders.clear();
        }
        if let (Some(session), Some(folder)) = (session, folder) {
            self.folders.insert(hash(session), folder);
        }
    }

    fn begin(&mut self, line: &Line, events: &mut Vec<Event>) {
        if line.session.is_some() && line.session != self.session {
            self.session.clone_from(&line.session);
            events.extend(line.session.clone().map(|id| Event::Session {
                cwd: self.folders.get(&hash(&id)).cloned(),
                id,
            }));
        }
    }

    fn run(&mut self, run: Run, method: &str) -> Event {
        let call = run.tool_call;
        if let Some(id) = &call.tool_call_id {
            self.hooked.is_new(id);
        }
        let title = call.title.unwrap_or_default();
        let begun = recorded("", &title, text_of(call.raw_input));
        Event::tool(hooks::Event {
            moment: if method == AFTER_TOOL {
                Moment::AfterTool
            } else {
                Moment::BeforeTool
            },
            call: call.tool_call_id,
            subagent: run.subagent,
            server: run.server,
            kind: call.kind.unwrap_or(Kind::Other),
            cwd: run.cwd,
            output: run.output.unwrap_or_default(),
            failed: call.status.as_deref() == Some("failed"),
            ..begun
        })
    }

    fn update(&mut self, line: &Line, update: &Call, events: &mut Vec<Event>) {
        match (&*update.session_update, &update.tool_call_id) {
            ("tool_call" | "tool_call_update", Some(id)) => self.shows(line, id, update, events),
            ("usage_update", _) => self.costs(line, update, events),
            _ => {}
        }
    }

    /// Merges an update of a call. Once the call has ended, it is played, unless a hook has reported it.
    fn shows(&mut self, line: &Line, id: &str, update: &Call, events: &mut Vec<Event>) {
        let mut shown = self.shown.take(id).unwrap_or_default();
        shown.title = update.title.clone().or(shown.title.take());
        shown.kind = update.kind.or(shown.kind);
        let input = update.raw_input.map(|input| input.get().to_owned());
        shown.input = input.or(shown.input.take());
        let texts = output(update.content.or(update.raw_output));
        if !texts.is_empty() {
            shown.output = texts;
        }
        let status = update.status.as_deref();
        if !matches!(status, Some("completed" | "failed")) {
            let texts = shown.texts();
            return self.shown.put(id, shown, texts);
        }
        if self.hooked.has(id) {
            return;
        }
        let title = shown.title.unwrap_or_default();
        let input = shown.input.as_deref().unwrap_or("null");
        let begun = hooks::Event {
            call: Some(id.to_owned()),
            kind: shown.kind.unwrap_or(Kind::Other),
            ..recorded("", &title, input)
        };
        self.begin(line, events);
        events.extend(whole_call(begun, shown.output, status == Some("failed")));
    }

    /// The cost of a session so far.
    fn costs(&mut self, line: &Line, update: &Call, events: &mut Vec<Event>) {
        let (Some(cost), Some(session)) = (&update.cost, &line.session) else {
            return;
        };
        if self.costs.len() >= MOST {
            self.costs.clear();
        }
        let total = millionths(cost.amount);
        let before = self.costs.insert(hash(session), total).unwrap_or_default();
        let amount = total.saturating_sub(before);
        if amount > 0 {
            self.begin(line, events);
            let currency = cost.currency.clone();
            events.push(Event::Cost { currency, amount });
        }
    }
}

/// The texts of a prompt, also of what is embedded in it.
fn prompt(params: &Value) -> Vec<String> {
    let blocks = params["prompt"].as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| {
        let text = block["text"].as_str();
        text.or(block["resource"]["text"].as_str())
    });
    texts.map(str::to_owned).collect()
}
