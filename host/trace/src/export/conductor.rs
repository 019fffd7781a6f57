//! The trace of the reference conductor: each line is an event, for a message that crosses.
//!
//! It has only a run's messages, without proxies' decisions, durations, and the connection of a message. Nested chains
//! are left out, since their ends have the same names.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use acp_chain_acp::MCP_MESSAGE;
use acp_chain_rpc::text_member;
use serde::de::Error;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use super::{Clock, seconds};
use crate::{Kind, Line, Role};

/// The connection of all lines read from the reference conductor's trace.
pub(super) const CONNECTION: &str = "conductor";

/// The first second that has no date of four digits, and so none in a trace.
const YEAR_10000: u64 = 253_402_300_800;

/// The name of the host, which is no part of the reference conductor's traces.
const HOST: &str = "acp-chain";

/// An event. Its members depend on its type.
#[skip_serializing_none]
#[derive(Deserialize, Serialize)]
struct Event {
    r#type: Kind,
    /// Seconds since the trace began.
    ts: f64,
    protocol: Option<Protocol>,
    from: String,
    to: String,
    id: Option<Box<RawValue>>,
    method: Option<String>,
    session: Option<String>,
    params: Option<Box<RawValue>>,
    is_error: Option<bool>,
    error_domain: Option<Protocol>,
    payload: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Protocol {
    Acp,
    Mcp,
}

/// A message of MCP, as ACP carries it.
#[derive(Deserialize)]
struct McpMessage {
    method: String,
    params: Option<Box<RawValue>>,
}

/// The answer to an MCP message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    _meta: Option<Box<RawValue>>,
}

/// The trace of the reference conductor, `agent-client-protocol-conductor`.
pub fn conductor(lines: &mut dyn Iterator<Item = Line>, to: &mut dyn Write) -> io::Result<()> {
    let mut clock = Clock::default();
    let mut start = None;
    let mut proxies: HashMap<String, Vec<String>> = HashMap::new();
    let mut inner = HashSet::new();
    for line in lines {
        let now = clock.of(&line);
        let start = *start.get_or_insert(now);
        if line.version.is_some() {
            if line.role == Some(Role::Proxy) {
                inner.insert(line.connection.clone());
            }
            proxies.insert(line.connection.clone(), line.proxies.unwrap_or_default());
            continue;
        }
        if inner.contains(&line.connection) {
            continue;
        }
        let known = proxies.get(&line.connection);
        let component = |name: &str| match name {
            "client" => "Client".to_owned(),
            "agent" => "Agent".to_owned(),
            proxy => {
                let place = known.and_then(|known| known.iter().position(|id| id == proxy));
                place.map_or(proxy.to_owned(), |place| format!("Proxy({place})"))
            }
        };
        let names = match line.crossed() {
            // A message that the host replaces crosses twice; stored values are not of the protocol.
            Some((_, HOST, _) | (HOST, _, _)) | None => continue,
            Some((from, to, _)) => [component(from), component(to)],
        };
        let Some(event) = event(line, seconds(now.saturating_sub(start)), names) else {
            continue;
        };
        serde_json::to_writer(&mut *to, &event)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// The event of a message that crosses.
fn event(line: Line, ts: f64, [from, to]: [String; 2]) -> Option<Event> {
    let is_error = line.error.is_some();
    let null = || RawValue::from_string("null".to_owned()).ok();
    let kind = line.kind?;
    let mut event = Event {
        r#type: kind,
        ts,
        protocol: None,
        from,
        to,
        // The id is the same on all hops, which differ in the requester.
        id: line
            .request
            .and_then(|number| RawValue::from_string(number.to_string()).ok()),
        method: None,
        session: None,
        params: None,
        is_error: None,
        error_domain: None,
        payload: None,
    };
    let is_mcp = line.method.as_deref() == Some(MCP_MESSAGE);
    match kind {
        Kind::Request | Kind::Notification => {
            event.protocol = Some(Protocol::Acp);
            event.method = line.method;
            event.session = line.session;
            event.params = line.params;
            let carried = event.params.as_ref().filter(|_| is_mcp);
            if let Some(carried) = carried
                && let Ok(carried) = serde_json::from_str::<McpMessage>(carried.get())
            {
                event.protocol = Some(Protocol::Mcp);
                event.method = Some(carried.method);
                event.params = carried.params;
            }
            event.params = event.params.or_else(null);
            if kind == Kind::Notification {
                event.id = None;
            } else {
                event.id.as_ref()?;
            }
        }
        Kind::Response => {
            event.id.as_ref()?;
            event.payload = line.result.or(line.error);
            event.error_domain = is_error.then_some(Protocol::Acp);
            let carried = event.payload.as_ref().filter(|_| is_mcp && !is_error);
            if let Some(carried) = carried
                && let Ok(outcome) = serde_json::from_str::<Outcome>(carried.get())
            {
                event.error_domain = outcome.error.as_ref().map(|_| Protocol::Mcp);
                event.payload = outcome.error.or(outcome.result).or(event.payload);
            }
            event.payload = event.payload.or_else(null);
            event.is_error = Some(event.error_domain.is_some());
        }
    }
    Some(event)
}

/// Converts events into lines.
///
/// In such traces each hop of a request has its own id. A message that leaves a proxy is matched with the first of the
/// same kind, method and session that reached the proxy and has not left it yet. A request has its message's number.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// The number of the last message.
    numbered: u64,
    /// Open requests, by requester and id.
    open: HashMap<(String, String), OpenRequest>,
    /// The numbers of the answers, by request.
    answers: HashMap<u64, u64>,
    /// The messages that have not left a proxy yet, each with its number.
    arrived: HashMap<ArrivalKey, VecDeque<u64>>,
}

/// A proxy, and the kind, the method and the session of a message that reached it.
type ArrivalKey = (String, Kind, String, Option<String>);

#[derive(Debug)]
struct OpenRequest {
    number: u64,
    method: String,
    session: Option<String>,
}

impl Incoming {
    /// The line for an event; an error if this is not an event.
    pub(crate) fn line(&mut self, text: &[u8]) -> serde_json::Result<Line> {
        let event: Event = serde_json::from_slice(text)?;
        let time = Duration::try_from_secs_f64(event.ts).ok();
        let time = time.filter(|time| time.as_secs() < YEAR_10000);
        let time = time.and_then(|time| UNIX_EPOCH.checked_add(time));
        let mut line = Line {
            // Times are relative to the beginning of the trace, which is unknown.
            time: time.map_or_else(String::new, |time| {
                humantime::format_rfc3339_micros(time).to_string()
            }),
            connection: CONNECTION.to_owned(),
            from: Some(part(&event.from)),
            to: Some(part(&event.to)),
            kind: Some(event.r#type),
            ..Line::default()
        };
        let id = event
            .id
            .as_ref()
            .map_or_else(String::new, |id| id.get().to_owned());
        match event.r#type {
            Kind::Request | Kind::Notification => {
                let missing = || serde_json::Error::missing_field("method");
                let method = event.method.ok_or_else(missing)?;
                let session = event.session.or_else(|| session(event.params.as_deref()));
                let key = |place: &str| {
                    (
                        place.to_owned(),
                        event.r#type,
                        method.clone(),
                        session.clone(),
                    )
                };
                let number = self.number(&key(&event.from));
                // A message that has reached an end of the chain does not leave it.
                if !matches!(&*event.to, "Client" | "Agent") {
                    let waiting = self.arrived.entry(key(&event.to)).or_default();
                    waiting.push_back(number);
                }
                line.message = Some(number);
                if event.r#type == Kind::Request {
                    let asked = OpenRequest {
                        number,
                        method: method.clone(),
                        session: session.clone(),
                    };
                    self.open.insert((event.from, id), asked);
                    line.request = Some(number);
                    line.id = event.id;
                }
                line.method = Some(method);
                line.session = session;
                line.params = event.params;
            }
            Kind::Response => {
                if let Some(asked) = self.open.remove(&(event.to, id)) {
                    let numbered = &mut self.numbered;
                    let answer = self.answers.entry(asked.number);
                    line.message = Some(*answer.or_insert_with(|| next(numbered)));
                    line.request = Some(asked.number);
                    line.method = Some(asked.method);
                    line.session = asked.session;
                }
                line.id = event.id;
                match event.is_error {
                    Some(true) => line.error = event.payload,
                    _ => line.result = event.payload,
                }
            }
        }
        Ok(line)
    }

    fn number(&mut self, from: &ArrivalKey) -> u64 {
        let arrived = self.arrived.get_mut(from);
        if let Some(number) = arrived.and_then(VecDeque::pop_front) {
            return number;
        }
        next(&mut self.numbered)
    }
}

fn next(numbered: &mut u64) -> u64 {
    *numbered += 1;
    *numbered
}

/// Our name of a part of the chain.
fn part(component: &str) -> String {
    match component {
        "Client" => "client".to_owned(),
        "Agent" => "agent".to_owned(),
        other => match other
            .strip_prefix("Proxy(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(place) => format!("proxy-{place}"),
            None => other.to_owned(),
        },
    }
}

/// The session named in the parameters.
fn session(params: Option<&RawValue>) -> Option<String> {
    text_member(params?.get(), "sessionId")
}
