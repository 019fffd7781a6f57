//! Turns lines of traces into spans: turns, tool calls, permissions and MCP calls, with problems as events on them.
//!
//! A span ends with its subject, or with its connection. The number of open spans is bounded, with an equal share for
//! each connection, which drops its oldest span past that. Nothing is kept of an ended connection.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use acp_chain_acp::{TurnState, Turns};
use acp_chain_trace::{Decision, Ids, Kind, Line, Role, State};
use opentelemetry::KeyValue;
use opentelemetry::trace::{Event, SpanContext};
use opentelemetry_sdk::trace::SpanData;
use serde_json::value::RawValue;

use crate::bodies::{self, Usage};
use crate::content::{Call, Room};
use crate::context::{child, root};
use crate::mapping::{self, identifier};
use crate::requests::{About, Agent, NewRequest, Request};
use crate::span_data::{begin, end, fail, list, names, with};

/// The maximum number of open spans of each kind, for all connections together.
const MOST: usize = 10_000;

/// The maximum number of events of a span. Further ones are only counted.
const MOST_EVENTS: usize = 128;

/// Makes spans of lines.
#[derive(Debug, Default)]
pub struct Spans {
    connections: HashMap<String, Connection>,
    /// Whether there is a span for each decision, too.
    hops: bool,
    /// The room for contents, if exported.
    room: Option<Room>,
    done: Vec<SpanData>,
    usages: Vec<(Usage, Agent)>,
}

#[derive(Debug)]
struct Connection {
    ids: Ids,
    about: Vec<KeyValue>,
    /// Whether the chain is a proxy of another chain, which then has the spans of turns.
    is_inner: bool,
    span: SpanData,
    agent: Agent,
    /// The turns that continue after their prompts are answered.
    running: Turns<String, ()>,
    /// Open requests by their numbers: the first is the oldest.
    requests: BTreeMap<u64, Request>,
    /// The request of each session's turn.
    turns: HashMap<String, u64>,
    tools: HashMap<Key, Tool>,
    /// The keys of tool calls by their numbers: the first is the oldest.
    ages: BTreeMap<u64, Key>,
    /// The number of the last tool call.
    called: u64,
    /// How often each proxy had been restarted, as of the last line about its state.
    restarts: HashMap<String, u64>,
    /// The room for contents, if exported.
    room: Option<Room>,
    last: SystemTime,
}

/// The session of a tool call, and its id.
type Key = (String, String);

#[derive(Debug)]
struct Tool {
    number: u64,
    turn: Option<u64>,
    kind: &'static str,
    status: Option<&'static str>,
    content: Option<Call>,
    span: SpanData,
}

impl Spans {
    /// With `hops`, each decision of a proxy has a span; with `content`, spans have contents.
    pub fn with(hops: bool, content: bool) -> Self {
        Self {
            hops,
            room: content.then(Room::default),
            ..Self::default()
        }
    }

    /// Takes in a line.
    pub fn take(&mut self, line: &Line) {
        if line.is_end() {
            if let Some(mut connection) = self.connections.remove(&line.connection) {
                connection.see(line);
                self.done.extend(connection.end());
            }
            return;
        }
        if !self.connections.contains_key(&line.connection) {
            if line.dropped.is_some() {
                // The connection has ended, or has no beginning in this trace.
                return;
            }
            if self.connections.len() >= MOST {
                self.end_most_silent();
            }
        }
        let share = MOST / self.connections.len().max(1);
        let connection = self.connections.entry(line.connection.clone());
        let connection = connection.or_insert_with(|| Connection::new(line, self.room.clone()));
        connection.see(line);
        if let Some((from, to, kind)) = line.crossed() {
            if !connection.is_inner {
                match kind {
                    Kind::Request => connection.ask(line, from, to, share),
                    Kind::Response => {
                        let done = connection.answer(line, from, to, &mut self.usages);
                        self.done.extend(done);
                    }
                    Kind::Notification if from == "agent" => {
                        self.done.extend(connection.update(line, share));
                    }
                    Kind::Notification => {}
                }
            }
        } else if let Some((proxy, decision)) = line.decided() {
            let hop = (self.hops && decision != Decision::Hold)
                .then(|| connection.hop(line, proxy, decision));
            self.done.extend(hop.flatten());
            let name = match decision {
                Decision::Fail => mapping::FAILED,
                Decision::Expire => mapping::EXPIRED,
                _ => return,
            };
            // The reason is left out: its text may contain anything.
            let about = [
                (mapping::PROXY, Some(proxy)),
                (mapping::METHOD, line.method.as_deref()),
            ];
            connection.add_event(line, name, names(&about));
        } else {
            connection.proxy_event(line);
        }
    }

    /// Ends the connection without events for the longest time: its last line may have been lost.
    fn end_most_silent(&mut self) {
        let all = self.connections.iter();
        let silent = all.min_by_key(|(_, connection)| connection.last);
        let silent = silent.map(|(name, _)| name.clone());
        let ended = silent.and_then(|name| self.connections.remove(&name));
        self.done
            .extend(ended.into_iter().flat_map(Connection::end));
    }

    /// Ends all open spans.
    pub fn end(&mut self) {
        for (_, connection) in self.connections.drain() {
            self.done.extend(connection.end());
        }
    }

    /// Returns the ended spans, once.
    pub fn done(&mut self) -> Vec<SpanData> {
        let mut done = std::mem::take(&mut self.done);
        // The initiator of the trace decides whether it is sampled.
        done.retain(|span| span.span_context.is_sampled());
        done
    }

    /// Returns the usages of agents, once.
    pub fn usages(&mut self) -> Vec<(Usage, Agent)> {
        std::mem::take(&mut self.usages)
    }
}

impl Connection {
    fn new(line: &Line, room: Option<Room>) -> Self {
        let ids = Ids::new(&line.connection, &line.time);
        let begun = humantime::parse_rfc3339(&line.time).unwrap_or(SystemTime::UNIX_EPOCH);
        let what = ["connection"];
        let context = root(ids.trace(&what), ids.span(&what));
        let mut span = begin(mapping::CONNECTION_SPAN.to_owned(), context, None, begun);
        let is_inner = line.role == Some(Role::Proxy);
        let role = if is_inner { "proxy" } else { "agent" };
        let proxies = line.proxies.iter().flatten().map(String::as_str);
        span.attributes.extend([
            KeyValue::new(mapping::ROLE, role),
            list(mapping::PROXIES, proxies),
        ]);
        let about = names(&[
            (mapping::CONNECTION, Some(&line.connection)),
            (mapping::USER, line.user.as_deref()),
        ]);
        span.attributes.extend(about.iter().cloned());
        Self {
            ids,
            about,
            is_inner,
            span,
            agent: Agent::default(),
            running: Turns::new(),
            requests: BTreeMap::new(),
            turns: HashMap::new(),
            tools: HashMap::new(),
            ages: BTreeMap::new(),
            called: 0,
            restarts: HashMap::new(),
            room,
            last: begun,
        }
    }

    /// Notes the time of an event.
    fn see(&mut self, line: &Line) {
        if let Ok(time) = humantime::parse_rfc3339(&line.time) {
            self.last = time;
        }
    }

    /// Handles a request, on any of its hops. At most `most` may be open.
    fn ask(&mut self, line: &Line, from: &str, to: &str, most: usize) {
        let (Some(number), Some(params)) = (line.request, &line.params) else {
            return;
        };
        if !self.requests.contains_key(&number) {
            self.open(line, number, params, from, most);
        }
        if to == "agent"
            && let Some(request) = self.requests.get_mut(&number)
        {
            request.reached_agent(params);
        }
    }

    fn open(&mut self, line: &Line, number: u64, params: &RawValue, from: &str, most: usize) {
        let id = number.to_string();
        let room = self.room.as_ref();
        let Some(asked) = NewRequest::read(line, params, &self.agent, room) else {
            return;
        };
        let session = line.session.as_deref();
        let span_id = self.ids.span(&["request", &id]);
        let (context, above) = match (asked.remote, &asked.about) {
            (Some(remote), _) => (child(&remote, span_id), Some(remote)),
            (None, About::Turn(_)) => (root(self.ids.trace(&["request", &id]), span_id), None),
            (None, _) => {
                let tool = asked
                    .tool
                    .and_then(|id| self.tools.get(&(session?.to_owned(), id)));
                let tool = tool.map(|tool| tool.span.span_context.clone());
                let above = tool.unwrap_or_else(|| self.above(session));
                (child(&above, span_id), Some(above))
            }
        };
        // An MCP call does not name its session.
        let turn = self.turn(session).and_then(|turn| self.requests.get(&turn));
        let session = session.or_else(|| turn?.session.as_deref());
        let session = session.map(str::to_owned);
        let mut span = begin(asked.name, context, above, self.last);
        span.span_kind = asked.kind;
        span.attributes = asked.attributes;
        span.attributes
            .extend(names(&[(mapping::CONVERSATION, session.as_deref())]));
        if let About::Turn(_) = asked.about {
            span.attributes.extend(self.about.iter().cloned());
            if let Some(session) = &session {
                self.turns.insert(session.clone(), number);
            }
        }
        while self.requests.len() >= most
            && let Some((_, oldest)) = self.requests.pop_first()
        {
            self.forget(&oldest);
        }
        let request = Request {
            asker: from.to_owned(),
            session,
            about: asked.about,
            is_answered: false,
            stop: None,
            span,
        };
        self.requests.insert(number, request);
    }

    /// The parent of spans in a session: its turn, otherwise the only turn, otherwise the connection.
    fn above(&self, session: Option<&str>) -> SpanContext {
        let turn = self.turn(session).and_then(|turn| self.requests.get(&turn));
        let span = turn.map_or(&self.span, |turn| &turn.span);
        span.span_context.clone()
    }

    fn turn(&self, session: Option<&str>) -> Option<u64> {
        match session {
            Some(session) => self.turns.get(session).copied(),
            None if self.turns.len() == 1 => self.turns.values().next().copied(),
            None => None,
        }
    }

    /// Handles an answer, on any of its hops.
    fn answer(
        &mut self,
        line: &Line,
        from: &str,
        to: &str,
        usages: &mut Vec<(Usage, Agent)>,
    ) -> Vec<SpanData> {
        if line.method.as_deref() == Some("initialize") && from == "agent" {
            let result = line.result.as_deref();
            let version = bodies::version(result).unwrap_or(1);
            self.running.agree(version);
            let about = |name| {
                let said = bodies::of_agent(result, name);
                said.filter(|text| identifier(text).is_some())
            };
            self.agent = Agent {
                name: about("name"),
                version: about("version"),
            };
        }
        let Some(number) = line.request else {
            return Vec::new();
        };
        let Some(request) = self.requests.get_mut(&number) else {
            return Vec::new();
        };
        let usage = request.answer(line, from);
        usages.extend(usage.map(|usage| (usage, self.agent.clone())));
        if to != request.asker {
            return Vec::new();
        }
        let says_end = line.error.is_some() || request.stop.is_some();
        if let (About::Turn(_), Some(session)) = (&request.about, &request.session)
            && self.running.len() < MOST
            && let TurnState::Runs | TurnState::Joins(()) =
                self.running.answer(session.clone(), (), says_end)
        {
            return Vec::new();
        }
        self.close(number)
    }

    /// Ends a request, and the tool calls of its turn.
    fn close(&mut self, number: u64) -> Vec<SpanData> {
        let Some(request) = self.requests.remove(&number) else {
            return Vec::new();
        };
        let mut done = Vec::new();
        if let About::Turn(_) = request.about {
            // An agent may end a turn without completing its tool calls.
            let of_it = |tool: &Tool| tool.turn == Some(number);
            let tools = self.tools.extract_if(|_, tool| of_it(tool));
            done.extend(tools.map(|(_, tool)| {
                self.ages.remove(&tool.number);
                tool.end(self.last)
            }));
        }
        self.forget(&request);
        done.push(request.end(self.last));
        done
    }

    /// Ends the turns of a session, as the agent reports.
    fn stop(&mut self, session: &str, reason: &str) -> Vec<SpanData> {
        self.running.end(session);
        let is_turn = |request: &Request| {
            matches!(request.about, About::Turn(_)) && request.session.as_deref() == Some(session)
        };
        let turns = self.requests.iter_mut();
        let turns = turns.filter(|(_, request)| request.is_answered && is_turn(request));
        let turns: Vec<_> = turns
            .map(|(number, request)| {
                request.stop(reason);
                *number
            })
            .collect();
        let ended = turns.into_iter().flat_map(|turn| self.close(turn));
        ended.collect()
    }

    /// Removes a request that is no longer open.
    fn forget(&mut self, request: &Request) {
        if let (About::Turn(_), Some(session)) = (&request.about, &request.session) {
            let is_its = |turn: &u64| !self.requests.contains_key(turn);
            if self.turns.get(session).is_some_and(is_its) {
                self.turns.remove(session);
                self.running.end(session);
            }
        }
    }

    /// Handles an update from the agent.
    fn update(&mut self, line: &Line, most: usize) -> Vec<SpanData> {
        match (line.session.as_deref(), bodies::stop(line)) {
            (Some(session), Some(reason)) if self.running.acknowledges() => {
                self.stop(session, &reason)
            }
            _ => self.update_tool(line, most).into_iter().collect(),
        }
    }

    /// Handles an update of a tool call. At most `most` may be open.
    fn update_tool(&mut self, line: &Line, most: usize) -> Option<SpanData> {
        let session = line.session.as_deref()?;
        let Some(call) = bodies::tool_call(line) else {
            self.speak(line, session);
            return None;
        };
        let key = (session.to_owned(), call.id.to_string());
        if !self.tools.contains_key(&key) {
            // An ended call may still get updates.
            let is_new = call.is_new();
            let tool = is_new.then(|| self.tool(&line.time, session, &call.id))?;
            while self.tools.len() >= most
                && let Some((_, oldest)) = self.ages.pop_first()
            {
                self.tools.remove(&oldest);
            }
            self.called = tool.number;
            self.ages.insert(tool.number, key.clone());
            self.tools.insert(key.clone(), tool);
        }
        let tool = self.tools.get_mut(&key)?;
        if call.kind.is_some() {
            tool.kind = mapping::tool_kind(call.kind.as_deref());
        }
        if let Some(content) = &mut tool.content {
            content.set_arguments(call.input);
            content.set_result(call.output());
        }
        let status = call.status.as_deref().and_then(mapping::tool_status);
        tool.status = status.or(tool.status);
        let is_over = matches!(tool.status, Some("completed" | "failed"));
        let tool = is_over.then(|| self.tools.remove(&key)).flatten()?;
        self.ages.remove(&tool.number);
        Some(tool.end(self.last))
    }

    /// Adds the agent's output to the session's turn.
    fn speak(&mut self, line: &Line, session: &str) {
        if self.room.is_some()
            && let Some(chunk) = bodies::chunk(line)
            && let Some(turn) = self.turn(Some(session))
            && let Some(request) = self.requests.get_mut(&turn)
        {
            request.add_chunk(&chunk);
        }
    }

    fn tool(&self, time: &str, session: &str, id: &str) -> Tool {
        let above = self.above(Some(session));
        let context = child(&above, self.ids.span(&["tool", session, id, time]));
        let mut span = begin(String::new(), context, Some(above), self.last);
        span.attributes.extend(names(&[
            (mapping::OPERATION, Some(mapping::TOOL)),
            (mapping::TOOL_CALL, Some(id)),
            (mapping::CONVERSATION, Some(session)),
        ]));
        Tool {
            number: self.called + 1,
            turn: self.turn(Some(session)),
            kind: mapping::tool_kind(None),
            status: None,
            content: self.room.as_ref().map(Call::new),
            span,
        }
    }

    /// The span of a proxy's decision.
    fn hop(&self, line: &Line, proxy: &str, decision: Decision) -> Option<SpanData> {
        let took = Duration::from_micros(line.worked.or(line.held)?);
        let request = line.request.and_then(|number| self.requests.get(&number));
        let own = request.map(|request| request.span.span_context.clone());
        let above = own.unwrap_or_else(|| self.above(line.session.as_deref()));
        let number = line.request.unwrap_or_default().to_string();
        let what = ["hop", proxy, &line.time, &number, decision.as_str()];
        let context = child(&above, self.ids.span(&what));
        let begun = self.last.checked_sub(took).unwrap_or(self.last);
        let name = with(mapping::HOP, identifier(proxy));
        let mut span = begin(name, context, Some(above), begun);
        span.attributes.extend(names(&[
            (mapping::PROXY, Some(proxy)),
            (mapping::DECISION, Some(decision.as_str())),
            (mapping::METHOD, line.method.as_deref()),
            (mapping::CONVERSATION, line.session.as_deref()),
        ]));
        if matches!(decision, Decision::Fail | Decision::Expire) {
            fail(&mut span, decision.as_str());
        }
        Some(end(span, self.last))
    }

    /// Adds an event for a proxy's failure, restart or denied calls, or for missing lines.
    fn proxy_event(&mut self, line: &Line) {
        let about = [(mapping::PROXY, line.proxy.as_deref())];
        if let Some(missing) = line.dropped {
            let count = i64::try_from(missing).unwrap_or(i64::MAX);
            let count = KeyValue::new(mapping::MISSING, count);
            self.add_event(line, mapping::DROPPED, vec![count]);
        }
        let has_restarted = self.has_restarted(line);
        match (line.state, line.restarts) {
            (Some(State::Failed), _) => self.add_event(line, mapping::FAILED, names(&about)),
            (Some(State::Running), Some(restarts)) if has_restarted => {
                let count = i64::try_from(restarts).unwrap_or(i64::MAX);
                let count = KeyValue::new(mapping::RESTARTS, count);
                let about = names(&about).into_iter().chain([count]);
                self.add_event(line, mapping::RESTARTED, about.collect());
            }
            _ => {}
        }
        for (denial, _) in bodies::denials(line) {
            let about = [about[0], (mapping::DENIAL, Some(denial))];
            self.add_event(line, mapping::DENIED, names(&about));
        }
    }

    /// Whether a proxy has been restarted since the last line about its state. Each line has the total number of
    /// restarts, and the first line may be missing.
    fn has_restarted(&mut self, line: &Line) -> bool {
        let (Some(proxy), Some(_)) = (&line.proxy, line.state) else {
            return false;
        };
        let now = line.restarts.unwrap_or_default();
        let before = self.restarts.get(proxy).copied();
        if before.is_some() || self.restarts.len() < MOST {
            let most = now.max(before.unwrap_or_default());
            self.restarts.insert(proxy.clone(), most);
        }
        before.is_some_and(|before| now > before)
    }

    /// Adds an event to its turn, otherwise to the connection.
    fn add_event(&mut self, line: &Line, name: &'static str, attributes: Vec<KeyValue>) {
        let turn = self.turn(line.session.as_deref());
        let turn = turn.and_then(|turn| self.requests.get_mut(&turn));
        let events = match turn {
            Some(turn) => &mut turn.span.events,
            None => &mut self.span.events,
        };
        if events.events.len() < MOST_EVENTS {
            let event = Event::new(name, self.last, attributes, 0);
            events.events.push(event);
        } else {
            events.dropped_count += 1;
        }
    }

    fn end(self) -> impl Iterator<Item = SpanData> {
        let last = self.last;
        let tools = self.tools.into_values().map(move |tool| tool.end(last));
        let requests = self.requests.into_values();
        let requests = requests.map(move |request| request.end(last));
        tools.chain(requests).chain([end(self.span, last)])
    }
}

impl Tool {
    fn end(self, at: SystemTime) -> SpanData {
        let mut span = end(self.span, at);
        span.name = with(mapping::TOOL, Some(self.kind)).into();
        let about = [
            (mapping::TOOL_NAME, Some(self.kind)),
            (mapping::TOOL_STATUS, self.status),
        ];
        span.attributes.extend(names(&about));
        let content = self.content.iter();
        span.attributes.extend(content.flat_map(Call::attributes));
        if self.status == Some("failed") {
            fail(&mut span, mapping::TOOL_ERROR);
        }
        span
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::Status;

    use super::*;

    const TURN: &str = r#"
{"time":"2026-01-01T00:00:00Z","connection":"x","version":1,"program":"acp-chain","role":"agent","proxies":["p"]}
{"time":"2026-01-01T00:00:01Z","connection":"x","proxy":"p","denied":2,"invalid":0,"full":0}
{"time":"2026-01-01T00:00:02Z","connection":"x","from":"client","to":"p","kind":"request","id":1,"request":5,"method":"session/prompt","session":"s","params":{"sessionId":"s"}}
{"time":"2026-01-01T00:00:03Z","connection":"x","proxy":"p","decision":"fail","request":5,"method":"session/prompt","session":"s","worked":500000,"why":"hunter2"}
{"time":"2026-01-01T00:00:03Z","connection":"x","proxy":"p","state":"failed","why":"hunter2"}
{"time":"2026-01-01T00:00:03Z","connection":"x","proxy":"p","state":"running","restarts":1}
{"time":"2026-01-01T00:00:04Z","connection":"x","from":"agent","to":"p","kind":"request","id":2,"request":6,"method":"session/request_permission","session":"s","params":{"options":[{"optionId":"a","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}]}}
{"time":"2026-01-01T00:00:05Z","connection":"x","from":"client","to":"p","kind":"response","id":2,"request":6,"method":"session/request_permission","session":"s","result":{"outcome":{"outcome":"selected","optionId":"a"}}}
{"time":"2026-01-01T00:00:06Z","connection":"x","from":"p","to":"agent","kind":"response","id":2,"request":6,"method":"session/request_permission","session":"s","result":{"outcome":{"outcome":"selected","optionId":"r"}}}
{"time":"2026-01-01T00:00:07Z","connection":"x","from":"agent","to":"client","kind":"response","id":1,"request":5,"method":"session/prompt","session":"s","error":{"code":-32603,"message":"hunter2"}}
"#;

    fn spans(trace: &str, hops: bool) -> Vec<SpanData> {
        let mut spans = Spans::with(hops, false);
        for line in acp_chain_trace::Reader::new(trace.as_bytes()) {
            spans.take(&line.unwrap().1);
        }
        spans.end();
        spans.done()
    }

    fn named<'a>(spans: &'a [SpanData], name: &str) -> &'a SpanData {
        spans.iter().find(|span| span.name == name).unwrap()
    }

    fn events(span: &SpanData) -> Vec<&str> {
        span.events.iter().map(|event| &*event.name).collect()
    }

    #[test]
    fn problems_are_events_of_their_turn_or_else_of_the_connection() {
        let spans = spans(TURN, false);
        let turn = named(&spans, "invoke_agent");
        let happened = [mapping::FAILED, mapping::FAILED, mapping::RESTARTED];
        assert_eq!(events(turn), happened);
        assert_eq!(events(named(&spans, "acp.connection")), [mapping::DENIED]);
        assert_eq!(turn.status, Status::error(""));
        let took = turn.end_time.duration_since(turn.start_time).unwrap();
        assert_eq!(took, Duration::from_secs(5));
        assert!(!format!("{spans:?}").contains("hunter2"));
    }

    #[test]
    fn in_version_2_a_turn_ends_when_its_session_is_idle() {
        let trace = r#"
{"time":"2026-01-01T00:00:00Z","connection":"x","version":1,"program":"acp-chain","role":"agent","proxies":[]}
{"time":"2026-01-01T00:00:01Z","connection":"x","from":"agent","to":"client","kind":"response","request":1,"method":"initialize","result":{"protocolVersion":2,"info":{"name":"two"}}}
{"time":"2026-01-01T00:00:02Z","connection":"x","from":"client","to":"agent","kind":"request","id":1,"request":5,"method":"session/prompt","session":"s","params":{"sessionId":"s"}}
{"time":"2026-01-01T00:00:03Z","connection":"x","from":"agent","to":"client","kind":"response","id":1,"request":5,"method":"session/prompt","session":"s","result":{"messageId":"m"}}
{"time":"2026-01-01T00:00:04Z","connection":"x","from":"agent","to":"client","kind":"notification","method":"session/update","session":"s","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","status":"in_progress"}}}
{"time":"2026-01-01T00:00:05Z","connection":"x","from":"agent","to":"client","kind":"notification","method":"session/update","session":"s","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"running"}}}
{"time":"2026-01-01T00:00:09Z","connection":"x","from":"agent","to":"client","kind":"notification","method":"session/update","session":"s","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}}
{"time":"2026-01-01T00:00:20Z","connection":"x","ended":true}
"#;
        let spans = spans(trace, false);
        let named = |name: &str| {
            spans
                .iter()
                .find(|span| span.name.starts_with(name))
                .unwrap()
        };
        let (turn, tool) = (named("invoke_agent two"), named("execute_tool"));
        let length = |span: &SpanData| span.end_time.duration_since(span.start_time).unwrap();
        assert_eq!(length(turn), Duration::from_secs(7));
        assert_eq!(length(tool), Duration::from_secs(5));
        assert_eq!(tool.parent_span_id, turn.span_context.span_id());
        assert!(format!("{:?}", turn.attributes).contains("end_turn"));
    }

    #[test]
    fn a_restart_is_one_event_however_many_lines_report_it() {
        let line = r#"{"connection":"x","proxy":"p","state":"running","restarts":N}"#;
        let trace = ["3", "3", "4", "4", "4"].map(|count| line.replace('N', count));
        let spans = spans(&trace.join("\n"), false);
        let connection = named(&spans, "acp.connection");
        assert_eq!(events(connection), [mapping::RESTARTED]);
        let count = KeyValue::new(mapping::RESTARTS, 4_i64);
        assert!(connection.events.events[0].attributes.contains(&count));
    }

    #[test]
    fn calls_that_never_end_are_dropped_for_new_ones() {
        let line = r#"{"connection":"x","from":"agent","to":"client","kind":"notification","method":"session/update","session":"s","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"N"}}}"#;
        let mut spans = Spans::default();
        for number in 0..MOST + 5 {
            let line = line.replace('N', &number.to_string());
            spans.take(&serde_json::from_str(&line).unwrap());
        }
        let connection = &spans.connections["x"];
        assert_eq!(connection.tools.len(), MOST);
        assert_eq!(connection.ages.len(), MOST);
        let has = |id: usize| {
            let key = ("s".to_owned(), id.to_string());
            connection.tools.contains_key(&key)
        };
        assert!(!has(4) && has(5) && has(MOST + 4));
    }

    #[test]
    fn the_part_that_changes_a_permissions_answer_has_decided() {
        let spans = spans(TURN, false);
        let permission = named(&spans, "acp.permission");
        for (key, value) in [(mapping::OUTCOME, "reject_once"), (mapping::DECIDER, "p")] {
            let attribute = KeyValue::new(key, value);
            assert!(permission.attributes.contains(&attribute), "{permission:?}");
        }
    }

    #[test]
    fn hops_are_spans_only_if_requested() {
        let hop = spans(TURN, true);
        let hop = named(&hop, "acp.proxy p");
        let took = hop.end_time.duration_since(hop.start_time).unwrap();
        assert_eq!(took, Duration::from_millis(500));
        let without = spans(TURN, false);
        assert!(without.iter().all(|span| span.name != "acp.proxy p"));
    }

    #[test]
    fn an_unsampled_trace_is_left_out() {
        let meta = r#""params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"},"#;
        let spans = spans(&TURN.replace(r#""params":{"#, meta), false);
        let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
        assert_eq!(names, ["acp.connection"]);
    }

    #[test]
    fn connections_share_no_ids_and_nothing_is_kept_of_ended_ones() {
        let other = TURN.replace(r#""connection":"x""#, r#""connection":"y""#);
        let other = other.replace(r#""program""#, r#""user":"ann","program""#);
        let end = r#"{"time":"2026-01-01T00:00:08Z","connection":"x","ended":true}"#;
        // Interleaved, as a server writes them: the same sessions, and the same numbers of requests.
        let both = TURN.lines().zip(other.lines());
        let lines = both.flat_map(<[_; 2]>::from).chain([end]);
        let mut spans = Spans::default();
        for line in lines.filter(|line| !line.is_empty()) {
            spans.take(&serde_json::from_str(line).unwrap());
        }
        assert_eq!(spans.connections.len(), 1);
        let done = spans.done();
        assert_eq!(
            named(&done, "acp.connection").attributes[2].value,
            "x".into()
        );
        let turns = done.iter().filter(|span| span.name == "invoke_agent");
        let turns: Vec<_> = turns.collect();
        let [one, two] = &*turns else {
            panic!("{turns:?}")
        };
        assert_ne!(one.span_context.trace_id(), two.span_context.trace_id());
        let ann = KeyValue::new(mapping::USER, "ann");
        assert!(two.attributes.contains(&ann) && !one.attributes.contains(&ann));
        for name in ["acp.permission", "invoke_agent"] {
            let of_both = done.iter().filter(|span| span.name == name);
            assert_eq!(of_both.count(), 2, "{name}");
        }
    }

    #[test]
    fn connections_whose_end_was_lost_are_dropped_for_new_ones() {
        let mut spans = Spans::default();
        for number in 0..MOST + 5 {
            let line = Line {
                time: format!("2026-01-01T00:00:00.{number:06}Z"),
                connection: number.to_string(),
                ..Line::default()
            };
            spans.take(&line);
        }
        assert_eq!(spans.connections.len(), MOST);
        assert!(!spans.connections.contains_key("4"));
        assert_eq!(spans.done().len(), 5);
    }

    #[test]
    fn open_spans_are_bounded_and_end_with_the_trace() {
        let asked = |number: usize| {
            let line = r#"{"time":"2026-01-01T00:00:00Z","connection":"x","from":"client","to":"agent","kind":"request","request":N,"method":"session/prompt","session":"N","params":{}}"#;
            line.replace('N', &number.to_string())
        };
        let trace: Vec<_> = (0..MOST + 5).map(asked).collect();
        let trace = trace.join("\n");
        assert_eq!(spans(&trace, false).len(), MOST + 1);
    }
}
