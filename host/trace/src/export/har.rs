//! An HTTP Archive: a connection is a web socket, and its frames are the messages that the client sends and receives.
//!
//! Requests to the client have the host's ids: their numbers.

use std::collections::HashSet;
use std::io::{self, Write};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{Clock, conductor, seconds};
use crate::{Kind, Line};

/// The opcode of a frame of text.
const TEXT: u8 = 1;

/// One connection.
#[derive(Default)]
struct Connection {
    /// When it began, in microseconds since 1970.
    begun: u64,
    last: u64,
    /// The messages of the client.
    frames: Vec<Value>,
    /// The messages seen so far: messages that the host replaced are in the trace twice.
    seen: HashSet<u64>,
}

/// A message as on the wire, except for white space and the order of members.
#[skip_serializing_none]
#[derive(Serialize)]
struct Message<'m> {
    jsonrpc: &'static str,
    id: Option<&'m RawValue>,
    method: Option<&'m str>,
    params: Option<&'m RawValue>,
    result: Option<&'m RawValue>,
    error: Option<&'m RawValue>,
}

/// An HTTP Archive, version 1.2.
pub fn har(lines: &mut dyn Iterator<Item = Line>, to: &mut dyn Write) -> io::Result<()> {
    let mut clock = Clock::default();
    let mut connections: IndexMap<String, Connection> = IndexMap::new();
    for line in lines {
        let now = clock.of(&line);
        let connection = connections.entry(line.connection.clone());
        let connection = connection.or_insert_with(|| Connection {
            begun: now,
            ..Connection::default()
        });
        connection.last = connection.last.max(now);
        connection.take(&line, now);
    }
    let entries: Vec<_> = connections
        .iter()
        .map(|(name, connection)| entry(name, connection))
        .collect();
    let creator = json!({ "name": "acp-chain", "version": env!("CARGO_PKG_VERSION") });
    let log = json!({ "version": "1.2", "creator": creator, "entries": entries });
    serde_json::to_writer(&mut *to, &json!({ "log": log }))?;
    to.write_all(b"\n")?;
    to.flush()
}

impl Connection {
    fn take(&mut self, line: &Line, now: u64) {
        let (is_sent, kind) = match line.crossed() {
            Some(("client", _, kind)) => (true, kind),
            Some((_, "client", kind)) => (false, kind),
            _ => return,
        };
        if line.message.is_some_and(|number| !self.seen.insert(number)) {
            return;
        }
        // In the reference conductor's trace, each hop has its own id.
        let is_renamed =
            line.connection != conductor::CONNECTION && is_sent == (kind == Kind::Response);
        let own = line.request.filter(|_| is_renamed);
        let own = own.and_then(|number| RawValue::from_string(number.to_string()).ok());
        let id = own.as_deref().or(line.id.as_deref());
        let message = Message {
            jsonrpc: "2.0",
            id: id.filter(|_| kind != Kind::Notification),
            method: line.method.as_deref().filter(|_| kind != Kind::Response),
            params: line.params.as_deref(),
            result: line.result.as_deref(),
            error: line.error.as_deref(),
        };
        let Ok(data) = serde_json::to_string(&message) else {
            return;
        };
        self.frames.push(json!({
            "type": if is_sent { "send" } else { "receive" },
            "time": seconds(now),
            "opcode": TEXT,
            "data": data,
        }));
    }
}

fn entry(name: &str, connection: &Connection) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of one connection")]
    let took = connection.last.saturating_sub(connection.begun) as f64 / 1e3;
    let begun = std::time::UNIX_EPOCH
        .checked_add(std::time::Duration::from_micros(connection.begun))
        .map(|time| humantime::format_rfc3339_micros(time).to_string());
    // The input may have any text in place of our random letters.
    let letters = |c: &char| c.is_ascii_alphanumeric();
    let path: String = name.chars().filter(letters).collect();
    json!({
        "startedDateTime": begun,
        "time": took,
        "request": {
            "method": "GET",
            "url": format!("ws://acp-chain/{path}"),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [],
            "queryString": [],
            "headersSize": -1,
            "bodySize": -1,
        },
        "response": {
            "status": 101,
            "statusText": "Switching Protocols",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [],
            "content": { "size": 0, "mimeType": "x-unknown" },
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": { "send": 0, "wait": 0, "receive": took },
        "_resourceType": "websocket",
        "_webSocketMessages": connection.frames,
    })
}
