//! Chrome's trace format: a process per connection, with a track per part of the chain.
//!
//! Overlapping spans of one part are on several tracks, since the format requires nesting. A flow connects the hops of
//! a message.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::{Map, Value, json};
use serde_with::skip_serializing_none;

use super::Clock;
use crate::{Decision, Kind, Line, Role};

/// The maximum number of tracks of a part, for overlapping spans.
const TRACKS: usize = 64;

/// The distance between the first track numbers of two parts.
const APART: usize = 1000;

/// The members of an event.
#[skip_serializing_none]
#[derive(Default, Serialize)]
struct Event<'e> {
    name: &'e str,
    cat: &'static str,
    ph: &'static str,
    ts: u64,
    dur: Option<u64>,
    pid: usize,
    tid: usize,
    id: Option<usize>,
    /// A flow ends at the enclosing span.
    bp: Option<&'static str>,
    args: Option<&'e Value>,
}

/// A period of time on a track of a part.
struct Span {
    part: usize,
    name: String,
    what: &'static str,
    from: u64,
    to: u64,
    flow: Option<usize>,
    args: Value,
}

#[derive(Default)]
struct Connection {
    title: String,
    parts: IndexSet<String>,
    spans: Vec<Span>,
    /// Unanswered requests, by their number: the requesters on each hop, in order, with their open spans.
    open: HashMap<u64, Vec<(String, usize)>>,
    /// When a proxy answered an open request. The answer to a request of the host crosses no hop.
    settled: HashMap<u64, u64>,
    /// The flow of each message, by its number.
    flows: HashMap<u64, usize>,
    last: u64,
}

/// Chrome's trace format, in JSON.
pub fn chrome(lines: &mut dyn Iterator<Item = Line>, to: &mut dyn Write) -> io::Result<()> {
    let mut clock = Clock::default();
    let mut connections: IndexMap<String, Connection> = IndexMap::new();
    let mut flows = 0;
    for line in lines {
        let now = clock.of(&line);
        let connection = connections.entry(line.connection.clone()).or_default();
        connection.last = connection.last.max(now);
        connection.take(line, now, &mut flows);
    }
    to.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut events = Events {
        to: &mut *to,
        is_first: true,
    };
    for (number, (_, connection)) in connections.into_iter().enumerate() {
        connection.write(number + 1, &mut events)?;
    }
    to.write_all(b"\n]}\n")?;
    to.flush()
}

/// Writes events one by one.
struct Events<'w> {
    to: &'w mut dyn Write,
    is_first: bool,
}

impl Events<'_> {
    fn put(&mut self, event: &Event) -> io::Result<()> {
        let between: &[u8] = if self.is_first { b"\n" } else { b",\n" };
        self.is_first = false;
        self.to.write_all(between)?;
        serde_json::to_writer(&mut self.to, event)?;
        Ok(())
    }

    fn name(&mut self, what: &'static str, pid: usize, tid: usize, args: &Value) -> io::Result<()> {
        self.put(&Event {
            name: what,
            cat: "__metadata",
            ph: "M",
            pid,
            tid,
            args: Some(args),
            ..Event::default()
        })
    }
}

impl Connection {
    fn take(&mut self, line: Line, now: u64, flows: &mut usize) {
        if line.version.is_some() {
            let role = match line.role {
                Some(Role::Proxy) => "a nested chain",
                _ => "chain",
            };
            self.title = format!("{role} {}", line.connection);
            // The tracks are in the order of the chain.
            let proxies = line.proxies.into_iter().flatten();
            let parts = ["client".to_owned()].into_iter().chain(proxies);
            self.parts.extend(parts);
        } else if let Some((from, to, kind)) = line.crossed() {
            let (from, to) = (from.to_owned(), to.to_owned());
            self.crossed(&line, &from, &to, kind, now, flows);
        } else if let Some((proxy, decision)) = line.decided() {
            let proxy = proxy.to_owned();
            self.decided(&line, &proxy, decision, now);
        }
    }

    fn part(&mut self, name: &str) -> usize {
        match self.parts.get_index_of(name) {
            Some(part) => part,
            None => self.parts.insert_full(name.to_owned()).0,
        }
    }

    fn crossed(
        &mut self,
        line: &Line,
        from: &str,
        to: &str,
        kind: Kind,
        now: u64,
        flows: &mut usize,
    ) {
        let sender = self.part(from);
        let part = self.part(to);
        let flow = line.message.map(|number| {
            *self.flows.entry(number).or_insert_with(|| {
                *flows += 1;
                *flows
            })
        });
        let args = args(line);
        let method = line.method.clone().unwrap_or_default();
        if let (Some(number), Kind::Request) = (line.request, kind)
            // A message that the host replaces crosses twice.
            && self.ask(number, from)
        {
            self.spans.push(Span {
                part: sender,
                name: format!("{method} → {to}"),
                what: "request",
                from: now,
                to: now,
                flow: None,
                args: args.clone(),
            });
        }
        if let (Some(number), Kind::Response) = (line.request, kind) {
            self.answer(number, to, now);
        }
        self.spans.push(Span {
            part,
            name: match kind {
                Kind::Response => format!("{method} (answered by {from})"),
                _ => format!("{method} of {from}"),
            },
            what: "waiting",
            from: now.saturating_sub(line.waited.unwrap_or_default()),
            // A flow needs a span of nonzero length.
            to: now.saturating_add(u64::from(line.waited.unwrap_or_default() == 0)),
            flow,
            args,
        });
    }

    /// Records that a part sends a request. Returns true the first time; the caller then adds its span.
    fn ask(&mut self, number: u64, from: &str) -> bool {
        let asked = self.open.entry(number).or_default();
        let is_new = asked.iter().all(|(part, _)| part != from);
        if is_new {
            asked.push((from.to_owned(), self.spans.len()));
        }
        is_new
    }

    /// Ends the span of a part that receives its answer. If it is the first requester, the spans of all others end too,
    /// since the answer may have bypassed them.
    fn answer(&mut self, number: u64, to: &str, now: u64) {
        let Some(asked) = self.open.get_mut(&number) else {
            return;
        };
        let Some(place) = asked.iter().position(|(part, _)| part == to) else {
            return;
        };
        let over = match place {
            0 => std::mem::take(asked),
            place => vec![asked.remove(place)],
        };
        for (_, span) in over {
            self.spans[span].to = now.max(self.spans[span].from);
        }
    }

    fn decided(&mut self, line: &Line, proxy: &str, decision: Decision, now: u64) {
        let part = self.part(proxy);
        let args = args(line);
        let method = line.method.as_deref().unwrap_or_default();
        let times = [("holding", line.held), ("working", line.worked)];
        for (what, took) in times {
            let Some(took) = took else { continue };
            let name = match what {
                "holding" => format!("{method}: held"),
                _ => format!("{method}: {}", decision.as_str()),
            };
            self.spans.push(Span {
                part,
                name,
                what,
                from: now.saturating_sub(took),
                to: now,
                flow: None,
                args: args.clone(),
            });
        }
        if let Some(number) = line.request
            && matches!(decision, Decision::Answer | Decision::Refuse)
            && self.open.contains_key(&number)
        {
            self.settled.insert(number, now);
        }
    }

    fn write(mut self, pid: usize, events: &mut Events) -> io::Result<()> {
        let open = std::mem::take(&mut self.open);
        for (number, asked) in open {
            let settled = self.settled.get(&number).copied();
            for (_, span) in asked {
                let span = &mut self.spans[span];
                span.to = settled.unwrap_or(self.last).max(span.from);
                if settled.is_none() {
                    span.args["unanswered"] = true.into();
                }
            }
        }
        // Of spans that begin together, the longest encloses the others.
        self.spans.sort_by_key(|span| (span.from, Reverse(span.to)));
        events.name("process_name", pid, 0, &json!({ "name": self.title }))?;
        // The agent is at the end of the chain, wherever it first appears in the trace.
        if let Some(agent) = self.parts.get_index_of("agent") {
            let order = json!({ "sort_index": APART * APART });
            events.name("thread_sort_index", pid, tid(agent, 0), &order)?;
        }
        let mut tracks: Vec<Vec<Vec<u64>>> = vec![Vec::new(); self.parts.len()];
        let mut seen: HashMap<usize, usize> = HashMap::new();
        for span in &self.spans {
            if let Some(flow) = span.flow {
                *seen.entry(flow).or_default() += 1;
            }
        }
        let mut passed: HashMap<usize, usize> = HashMap::new();
        for span in &self.spans {
            let of_part = &mut tracks[span.part];
            let track = place(of_part, span);
            if track == of_part.len() {
                of_part.push(Vec::new());
                let name = &self.parts[span.part];
                let shown = match track {
                    0 => name.clone(),
                    more => format!("{name} ({})", more + 1),
                };
                let tid = tid(span.part, track);
                events.name("thread_name", pid, tid, &json!({ "name": shown }))?;
                if name != "agent" || track > 0 {
                    let last = if name == "agent" { APART * APART } else { 0 };
                    let order = json!({ "sort_index": last + tid });
                    events.name("thread_sort_index", pid, tid, &order)?;
                }
            }
            of_part[track].push(span.to);
            let event = Event {
                name: &span.name,
                cat: span.what,
                ph: "X",
                ts: span.from,
                dur: Some(span.to - span.from),
                pid,
                tid: tid(span.part, track),
                args: Some(&span.args),
                ..Event::default()
            };
            events.put(&event)?;
            let Some(flow) = span.flow.filter(|flow| seen[flow] > 1) else {
                continue;
            };
            let passed = passed.entry(flow).or_default();
            *passed += 1;
            let (ph, bp) = match *passed {
                1 => ("s", None),
                last if last == seen[&flow] => ("f", Some("e")),
                _ => ("t", None),
            };
            events.put(&Event {
                name: "message",
                cat: "message",
                ph,
                dur: None,
                id: Some(flow),
                bp,
                args: Some(&Value::Object(Map::new())),
                ..event
            })?;
        }
        Ok(())
    }
}

/// The number of a track.
fn tid(part: usize, track: usize) -> usize {
    (part + 1) * APART + track
}

/// The first track of a part on which a span overlaps others only by nesting. `tracks` has the ends of each track's
/// enclosing spans.
fn place(tracks: &mut [Vec<u64>], span: &Span) -> usize {
    for (number, open) in tracks.iter_mut().enumerate() {
        while open
            .pop_if(|end| *end <= span.from && *end < span.to)
            .is_some()
        {}
        if open.last().is_none_or(|end| span.to <= *end) {
            return number;
        }
    }
    tracks.len().min(TRACKS - 1)
}

/// The details of a span's line, without bodies.
fn args(line: &Line) -> Value {
    let mut args = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            args.insert(name.to_owned(), value);
        }
    };
    put("request", line.request.map(Value::from));
    put("session", line.session.clone().map(Value::from));
    put("bytes", line.size.map(Value::from));
    put("decision", line.decision.map(|it| it.as_str().into()));
    put("why", line.why.clone().map(Value::from));
    put("error", line.error.as_ref().map(|_| true.into()));
    Value::Object(args)
}
