//! Makes a transcript from a [trace](acp_chain_conductor::trace): the messages that both ends sent and received, in
//! order.
//!
//! A trace has untrusted content, since the ends chose it. Lines that are not messages of an end are skipped.

use std::collections::HashSet;
use std::io::BufRead;

use acp_chain_acp::HOOK;
use acp_chain_trace::{Kind as LineKind, Line, Reader, TraceError, read_whole};
use serde_json::value::RawValue;

use super::act::{Act, Kind, Said};
use super::format::LONGEST;
use super::json::Json;
use super::pattern::JsonPattern;
use acp_chain_channel::Peer;

/// The prefix of the ids of MCP servers in the chain.
const OWN_SERVER: &str = "acp-chain-";

/// Why a trace cannot be made into a transcript.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The trace cannot be read.
    #[error(transparent)]
    NoTrace(#[from] TraceError),
    /// The transcript is too long. Has the line of the trace, counted from 1.
    #[error("{0}: up to here the transcript is larger than {size} MiB; cut the trace", size = LONGEST >> 20)]
    TooLong(usize),
    /// The trace has more than one connection. Has the line at which the second begins, counted from 1.
    #[error(
        "{0}: a second connection begins here; a transcript has only one: cut the trace to one"
    )]
    SecondConnection(usize),
    /// An end sends or receives a message that a transcript cannot contain.
    #[error("{line}: a transcript cannot contain this message: {error}; cut the trace before it")]
    CannotBeHeld {
        /// The line, counted from 1.
        line: usize,
        /// The error.
        error: serde_json::Error,
    },
    /// The trace has no message of an end.
    #[error("the trace has no message of a client or an agent")]
    Empty,
}

/// Makes the text of a transcript.
///
/// # Errors
/// If `reader` does not read a trace of one connection, or has a message that a transcript cannot contain.
pub fn transcript(reader: &mut Reader<impl BufRead>) -> Result<String, RecordedError> {
    let mut text = String::new();
    let mut known = KnownMessages::new();
    while let Some(read) = reader.next() {
        let (number, line) = read?;
        if reader.is_inner(&line) {
            continue;
        }
        if is_beginning(&line) && !text.is_empty() {
            return Err(RecordedError::SecondConnection(number));
        }
        let acts = acts(&line, &mut known);
        let acts = acts.map_err(|error| RecordedError::CannotBeHeld {
            line: number,
            error,
        })?;
        for act in acts {
            text.push_str(&act.to_string());
            text.push('\n');
        }
        if text.len() > LONGEST {
            return Err(RecordedError::TooLong(number));
        }
    }
    if text.is_empty() {
        Err(RecordedError::Empty)
    } else {
        Ok(text)
    }
}

/// Whether the line is an `initialize` request of the client, which begins a connection.
fn is_beginning(line: &Line) -> bool {
    let is = |text: &Option<String>, expected: &str| text.as_deref() == Some(expected);
    is(&line.from, "client")
        && line.kind == Some(LineKind::Request)
        && is(&line.method, "initialize")
}

/// The messages of each end, by their numbers in the trace.
pub type KnownMessages = HashSet<(Peer, u64)>;

/// The ends of the message in a line, each with whether it sends the message. Leaves out an end that already has the
/// message in `known`: the trace has a message twice if the host replaced it.
pub fn ends(line: &Line, known: &mut KnownMessages) -> Vec<(Peer, bool)> {
    let peer = |name: &Option<String>| match name.as_deref() {
        Some("client") => Some(Peer::Client),
        Some("agent") => Some(Peer::Agent),
        _ => None,
    };
    let both = [(peer(&line.from), true), (peer(&line.to), false)];
    let both = both
        .into_iter()
        .filter_map(|(end, says)| Some((end?, says)));
    let new = both.filter(|(end, _)| {
        line.message
            .is_none_or(|number| known.insert((*end, number)))
    });
    new.collect()
}

/// The steps of the ends for a line of the trace.
fn acts(line: &Line, known: &mut KnownMessages) -> serde_json::Result<Vec<Act>> {
    let Some((kind, name, body)) = said(line) else {
        return Ok(Vec::new());
    };
    let acts = ends(line, known).into_iter().map(|(end, says)| {
        let body = body.map(|body| read_whole(body.get().as_bytes()));
        let mut body: Option<Json> = body.transpose()?;
        if says && end == Peer::Client && matches!(kind, Kind::Request(_)) {
            body = body.map(without_own_servers);
        }
        let said = Said {
            kind: kind.clone(),
            name: name.clone(),
            body: body.map(JsonPattern::of),
        };
        Ok::<_, serde_json::Error>(match &said.kind {
            // The agent's hook gets what has passed all proxies.
            Kind::Request(method) if !says && method.starts_with(HOOK) => {
                let kind = Kind::Result;
                Act::Gets(Peer::Agent, Said { kind, ..said })
            }
            _ if says => Act::Says(end, said),
            _ => Act::Gets(end, said),
        })
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

/// The kind of a message, the name of its request, and its body.
fn said(line: &Line) -> Option<(Kind, Option<String>, Option<&RawValue>)> {
    let name = line.request.map(|number| format!("r{number}"));
    let method = line.method.clone()?;
    let params = || line.params.as_deref();
    Some(match line.kind? {
        LineKind::Request => (Kind::Request(method), Some(name?), params()),
        LineKind::Notification if method == acp_chain_acp::CANCEL_REQUEST => {
            (Kind::Cancel, Some(name?), None)
        }
        LineKind::Notification => (Kind::Notification(method), None, params()),
        LineKind::Response if line.error.is_some() => {
            (Kind::Error, Some(name?), line.error.as_deref())
        }
        LineKind::Response => (Kind::Result, Some(name?), line.result.as_deref()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(trace: &str) -> Result<String, RecordedError> {
        super::transcript(&mut Reader::new(trace.as_bytes()))
    }

    #[test]
    fn the_messages_of_the_ends_are_in_the_order_of_the_trace() {
        let trace = r#"
{"from":"client","to":"acp-chain","kind":"request","message":1,"request":1,"method":"session/new","params":{"mcpServers":[1]}}
{"from":"client","to":"one","kind":"request","message":1,"request":1,"method":"session/new","params":{"mcpServers":[2]}}
{"proxy":"one","decision":"forward","message":1,"request":1,"method":"session/new"}
{"from":"one","to":"agent","kind":"request","message":1,"request":1,"method":"session/new","params":{"mcpServers":[2]}}
{"from":"agent","to":"client","kind":"response","message":2,"request":1,"method":"session/new","result":{"sessionId":"s"}}
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
        assert_eq!(transcript(trace).unwrap(), expected);
    }

    #[test]
    fn a_tool_run_that_has_passed_is_answered_with_its_parameters() {
        let trace = r#"
{"from":"agent","to":"one","kind":"request","message":1,"request":1,"method":"_acp-chain/hook/before_tool","params":{"canChange":true}}
{"from":"one","to":"client","kind":"request","message":1,"request":1,"method":"_acp-chain/hook/before_tool","params":{"canChange":true}}
"#;
        let expected = r#"agent: r1 _acp-chain/hook/before_tool {"canChange": true}
agent gets: r1 result {"canChange": true}
"#;
        assert_eq!(transcript(trace).unwrap(), expected);
    }

    #[test]
    fn a_second_connection_is_an_error() {
        let line =
            r#"{"from":"client","to":"agent","kind":"request","request":1,"method":"initialize"}"#;
        let error = transcript(&format!("{line}\n{line}\n")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("2: a second connection begins here"),
            "{error}"
        );
    }

    #[test]
    fn a_message_is_never_left_out() {
        let odd = |params: &str| {
            let odd =
                r#"{"from":"agent","to":"client","kind":"notification","method":"a/b","params":"#;
            format!("{odd}{params}}}\n")
        };
        assert_eq!(
            transcript(&odd(r#"{"text":"\ud800"}"#)).unwrap(),
            "agent: a/b {\"text\": \"\u{fffd}\"}\nclient gets: a/b {\"text\": \"\u{fffd}\"}\n"
        );
        let deep = "[".repeat(200) + &"]".repeat(200);
        for params in ["1e999", &deep] {
            let trace = odd("{}") + &odd(params);
            let error = transcript(&trace).unwrap_err().to_string();
            let expected = "2: a transcript cannot contain this message: ";
            assert!(error.starts_with(expected), "{error}");
            // Messages between proxies are not in the transcript.
            let between = odd(params).replace("agent", "one");
            let between = between.replace("client", "two");
            transcript(&(odd("{}") + &between)).unwrap();
        }
    }
}
