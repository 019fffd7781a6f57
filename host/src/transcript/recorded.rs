//! A transcript out of a [trace](crate::trace) of a run: what both ends said and got, in its order.
//!
//! What a trace has is what the ends of that run chose, and may be anything: a line that is no message of an end
//! is passed over.

use std::collections::HashSet;
use std::io::{BufRead, Read};

use serde::{Deserialize, Deserializer};

use super::act::{Act, Kind, Said};
use super::format::LONGEST;
use super::json::Json;
use super::pattern::Pattern;
use crate::channel::Peer;

/// How the host's ids of MCP servers begin.
const OWN_SERVER: &str = "acp-chain-";

/// A line of a trace, as far as it matters here.
#[derive(Deserialize)]
struct Line {
    from: Option<String>,
    to: Option<String>,
    kind: Option<String>,
    method: Option<String>,
    /// The number of the request, on all hops.
    request: Option<u64>,
    params: Option<Json>,
    #[serde(default, deserialize_with = "even_null")]
    result: Option<Json>,
    error: Option<Json>,
}

/// A value that is there, also if it is `null`.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl Line {
    /// Whether a client begins its connection.
    fn is_beginning(&self) -> bool {
        let is = |text: &Option<String>, expected: &str| text.as_deref() == Some(expected);
        is(&self.from, "client") && is(&self.kind, "request") && is(&self.method, "initialize")
    }
}

/// Why a trace makes no transcript.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// It cannot be read.
    #[error("the trace cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// A line is not what `--trace` writes.
    #[error("{line}: this is no line of a trace: {error}; `acp-chain run --trace FILE` writes one")]
    NoTrace {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// It is too long.
    #[error("{0}: what was said up to here makes a transcript of more than {size} MiB; cut the trace", size = LONGEST >> 20)]
    TooLong(usize),
    /// It has more than one connection.
    #[error("{0}: a second connection begins here; a transcript has one: leave one in the trace")]
    SecondConnection(usize),
    /// No end says anything in it.
    #[error("the trace has no message of a client or an agent")]
    Empty,
}

/// Makes a transcript.
///
/// # Errors
/// If this is no trace of one connection.
pub fn transcript(trace: impl BufRead) -> Result<String, RecordedError> {
    let mut trace = trace;
    let mut text = String::new();
    let mut seen = HashSet::new();
    let mut said = Vec::new();
    for number in 1.. {
        said.clear();
        let limit = (LONGEST as u64) * 2;
        if trace.by_ref().take(limit).read_until(b'\n', &mut said)? == 0 {
            break;
        }
        if said.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Line = serde_json::from_slice(&said).map_err(|error| RecordedError::NoTrace {
            line: number,
            error,
        })?;
        if line.is_beginning() && !text.is_empty() {
            return Err(RecordedError::SecondConnection(number));
        }
        for act in acts(&line, &mut seen) {
            text.push_str(&act.to_string());
            text.push('\n');
        }
        if text.len() > LONGEST {
            return Err(RecordedError::TooLong(number));
        }
    }
    match text.is_empty() {
        true => Err(RecordedError::Empty),
        false => Ok(text),
    }
}

/// What a line says of the ends. A message is said once, also where the trace has it twice, since the host made
/// something else of it.
fn acts(line: &Line, seen: &mut HashSet<(Peer, bool, u64, Option<String>)>) -> Vec<Act> {
    let Some(said) = said(line) else {
        return Vec::new();
    };
    let peer = |name: &Option<String>| match name.as_deref() {
        Some("client") => Some(Peer::Client),
        Some("agent") => Some(Peer::Agent),
        _ => None,
    };
    let mut is_new = |end: Peer, says: bool| match line.request {
        Some(number) => {
            let is_answer = matches!(said.kind, Kind::Result | Kind::Error);
            let method = line.method.clone().filter(|_| !is_answer);
            seen.insert((end, says, number, method))
        }
        None => true,
    };
    let mut acts = Vec::new();
    if let Some(end) = peer(&line.from).filter(|end| is_new(*end, true)) {
        let mut said = said.clone();
        let params = line.params.clone().filter(|_| end == Peer::Client);
        if let (Kind::Request(_), Some(params)) = (&said.kind, params) {
            said.body = Some(Pattern::of(without_own_servers(params)));
        }
        acts.push(Act::Says(end, said));
    }
    if let Some(end) = peer(&line.to).filter(|end| is_new(*end, false)) {
        acts.push(Act::Gets(end, said));
    }
    acts
}

/// The parameters of a session as the client said them: the trace has them with the servers that the host declares.
fn without_own_servers(mut params: Json) -> Json {
    if let Json::Object(members) = &mut params
        && let Some(Json::List(servers)) = members.get_mut("mcpServers")
    {
        servers.retain(|server| {
            let id = server.get("serverId").and_then(Json::as_text);
            !id.is_some_and(|id| id.starts_with(OWN_SERVER))
        });
    }
    params
}

fn said(line: &Line) -> Option<Said> {
    let name = line.request.map(|number| format!("r{number}"));
    let method = line.method.clone()?;
    let (kind, name, body) = match line.kind.as_deref()? {
        "request" => (Kind::Request(method), Some(name?), line.params.clone()),
        "notification" if method == super::CANCEL => (Kind::Cancel, Some(name?), None),
        "notification" => (Kind::Notification(method), None, line.params.clone()),
        "response" if line.error.is_some() => (Kind::Error, Some(name?), line.error.clone()),
        "response" => (Kind::Result, Some(name?), line.result.clone()),
        _ => return None,
    };
    let body = body.map(Pattern::of);
    Some(Said { kind, name, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_ends_said_and_got_is_in_the_order_of_the_trace() {
        let trace = r#"
{"from":"client","to":"acp-chain","kind":"request","request":1,"method":"session/new","params":{"mcpServers":[1]}}
{"from":"client","to":"one","kind":"request","request":1,"method":"session/new","params":{"mcpServers":[2]}}
{"proxy":"one","decision":"forward","request":1,"method":"session/new"}
{"from":"one","to":"agent","kind":"request","request":1,"method":"session/new","params":{"mcpServers":[2]}}
{"from":"agent","to":"client","kind":"response","request":1,"method":"session/new","result":{"sessionId":"s"}}
{"from":"client","to":"agent","kind":"request","request":2,"method":"session/load","params":{"mcpServers":[{"serverId":"acp-chain-1"},{"serverId":"x"}]}}
{"from":"client","to":"agent","kind":"notification","request":2,"method":"$/cancel_request","params":{"requestId":7}}
{"from":"one","to":"two","kind":"notification","method":"between"}
{"from":"two","to":"client","kind":"notification","method":"a/b"}
{"from":"client","to":"agent","kind":"request","request":3,"method":"authenticate"}
{"from":"agent","to":"client","kind":"response","request":3,"method":"authenticate","result":null}
{"from":"agent","to":"client","kind":"response","request":2,"method":"session/load","error":{"code":-32800}}
"#;
        let expected = r#"client: r1 session/new {"mcpServers": [1]}
agent gets: r1 session/new {"mcpServers": [2]}
agent: r1 result {"sessionId": "s"}
client gets: r1 result {"sessionId": "s"}
client: r2 session/load {"mcpServers": [{"serverId": "x"}]}
agent gets: r2 session/load {"mcpServers": [{"serverId": "acp-chain-1"}, {"serverId": "x"}]}
client: r2 cancel
agent gets: r2 cancel
client gets: a/b
client: r3 authenticate
agent gets: r3 authenticate
agent: r3 result null
client gets: r3 result null
agent: r2 error {"code": -32800}
client gets: r2 error {"code": -32800}
"#;
        assert_eq!(transcript(trace.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn a_second_connection_is_an_error() {
        let line =
            r#"{"from":"client","to":"agent","kind":"request","request":1,"method":"initialize"}"#;
        let error = transcript(format!("{line}\n{line}\n").as_bytes()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("2: a second connection begins here"),
            "{error}"
        );
    }
}
