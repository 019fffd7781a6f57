//! A transcript from a [trace](crate::trace) of a run: what both ends sent and received, in order.
//!
//! The ends of that run chose the content of its trace, which may be anything: lines that are not messages of an end
//! are skipped.

use std::collections::HashSet;
use std::io::BufRead;

use acp_chain_trace::{Kind as LineKind, Line, Reader, TraceError};
use serde_json::value::RawValue;

use super::act::{Act, Kind, Said};
use super::format::LONGEST;
use super::json::Json;
use super::pattern::JsonPattern;
use crate::channel::Peer;

/// How the host's ids of MCP servers begin.
const OWN_SERVER: &str = "acp-chain-";

/// Why a trace cannot be made into a transcript.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// It cannot be read.
    #[error(transparent)]
    NoTrace(#[from] TraceError),
    /// It is too long.
    #[error("{0}: up to here the transcript is larger than {size} MiB; cut the trace", size = LONGEST >> 20)]
    TooLong(usize),
    /// It has more than one connection.
    #[error(
        "{0}: a second connection begins here; a transcript has only one: cut the trace to one"
    )]
    SecondConnection(usize),
    /// No end sends anything in it.
    #[error("the trace has no message of a client or an agent")]
    Empty,
}

/// Makes a transcript.
///
/// # Errors
/// If this is not a trace of one connection.
pub fn transcript(trace: impl BufRead) -> Result<String, RecordedError> {
    let mut text = String::new();
    let mut seen = Seen::new();
    let mut reader = Reader::new(trace);
    while let Some(read) = reader.next() {
        let (number, line) = read?;
        if reader.is_inner(&line) {
            continue;
        }
        if is_beginning(&line) && !text.is_empty() {
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

/// Whether a client begins its connection.
fn is_beginning(line: &Line) -> bool {
    let is = |text: &Option<String>, expected: &str| text.as_deref() == Some(expected);
    is(&line.from, "client")
        && line.kind == Some(LineKind::Request)
        && is(&line.method, "initialize")
}

/// A body in a transcript.
fn json(body: Option<&RawValue>) -> Option<Json> {
    serde_json::from_str(body?.get()).ok()
}

/// Messages that an end sent or received, by the number of the request; answers have no method.
pub type Seen = HashSet<(Peer, bool, u64, Option<String>)>;

/// The ends that send or receive a message, with whether they send it. A message is sent once, even if the trace has it
/// twice because the host replaced it.
pub fn ends(line: &Line, seen: &mut Seen) -> Vec<(Peer, bool)> {
    let peer = |name: &Option<String>| match name.as_deref() {
        Some("client") => Some(Peer::Client),
        Some("agent") => Some(Peer::Agent),
        _ => None,
    };
    let both = [(peer(&line.from), true), (peer(&line.to), false)];
    let both = both
        .into_iter()
        .filter_map(|(end, says)| Some((end?, says)));
    let new = both.filter(|(end, says)| match line.request {
        Some(number) => {
            let is_answer = line.kind == Some(LineKind::Response);
            let method = line.method.clone().filter(|_| !is_answer);
            seen.insert((*end, *says, number, method))
        }
        None => true,
    });
    new.collect()
}

/// The steps of a line at the ends.
fn acts(line: &Line, seen: &mut Seen) -> Vec<Act> {
    let Some(said) = said(line) else {
        return Vec::new();
    };
    let acts = ends(line, seen).into_iter().map(|(end, says)| {
        if !says {
            return Act::Gets(end, said.clone());
        }
        let mut said = said.clone();
        let params = json(line.params.as_deref()).filter(|_| end == Peer::Client);
        if let (Kind::Request(_), Some(params)) = (&said.kind, params) {
            said.body = Some(JsonPattern::of(without_own_servers(params)));
        }
        Act::Says(end, said)
    });
    acts.collect()
}

/// The parameters of a session as the client sent them: the trace has them with the servers that the host declares.
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
    let params = || json(line.params.as_deref());
    let (kind, name, body) = match line.kind? {
        LineKind::Request => (Kind::Request(method), Some(name?), params()),
        LineKind::Notification if method == super::CANCEL => (Kind::Cancel, Some(name?), None),
        LineKind::Notification => (Kind::Notification(method), None, params()),
        LineKind::Response if line.error.is_some() => {
            (Kind::Error, Some(name?), json(line.error.as_deref()))
        }
        LineKind::Response => (Kind::Result, Some(name?), json(line.result.as_deref())),
    };
    let body = body.map(JsonPattern::of);
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
