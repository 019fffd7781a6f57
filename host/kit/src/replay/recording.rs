//! The messages of one end, from a trace: those that it sent and received, in the order of the trace.

use std::collections::HashMap;
use std::io::BufRead;
use std::time::{Duration, SystemTime};

use acp_chain_acp::{HOOK, INITIALIZE};
use acp_chain_trace::{Kind, Line, Reader, TraceError, read_whole};
use serde_json::Value;

use crate::transcript::{KnownMessages, ends};
use acp_chain_channel::Peer;

/// The prefix of the host's ids of MCP servers.
const OWN_SERVER: &str = "acp-chain-";

/// Why there is nothing to play.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The trace cannot be read.
    #[error(transparent)]
    NoTrace(#[from] TraceError),
    /// The trace has more than one connection.
    #[error(
        "{0}: a second connection begins here, and only one can be played: cut the trace to one"
    )]
    SecondConnection(usize),
    /// The side sends or receives something that cannot be played.
    #[error("{line}: this message cannot be played: {error}; cut the trace before it")]
    Unplayable {
        /// The line, counted from 1.
        line: usize,
        error: serde_json::Error,
    },
    /// The side sends nothing in the trace.
    #[error("the trace has no message of the {}", .0.as_str())]
    Empty(Peer),
}

/// A message that the side sent or received.
#[derive(Clone, Debug)]
pub struct Step {
    /// The number of its line in the trace.
    pub line: usize,
    /// The time since the previous message.
    pub after: Duration,
    /// Whether our side sends the message.
    pub is_ours: bool,
    pub kind: Kind,
    pub method: String,
    /// The number of the request.
    pub request: Option<u64>,
    /// The message's session.
    pub session: Option<String>,
    /// The body, or null.
    pub body: Value,
    pub is_error: bool,
}

/// The messages of one end of a connection.
#[derive(Debug)]
pub struct Recording {
    /// The end that is played.
    pub side: Peer,
    pub steps: Vec<Step>,
}

impl Recording {
    /// The messages that a side sent and received in one connection.
    pub fn read(reader: &mut Reader<impl BufRead>, side: Peer) -> Result<Self, RecordingError> {
        let mut steps: Vec<Step> = Vec::new();
        let mut known = KnownMessages::new();
        let mut sessions = HashMap::new();
        let mut last: Option<SystemTime> = None;
        while let Some(read) = reader.next() {
            let (number, line) = read?;
            // The hooks of an agent are not part of its end.
            let is_of_hook = |method: &String| method.starts_with(HOOK);
            if reader.is_inner(&line) || line.method.as_ref().is_some_and(is_of_hook) {
                continue;
            }
            for (end, is_ours) in ends(&line, &mut known) {
                if end != side {
                    continue;
                }
                let step = step(number, &line, is_ours);
                let step = step.map_err(|error| RecordingError::Unplayable {
                    line: number,
                    error,
                })?;
                let Some(mut step) = step else { continue };
                let begins = step.kind == Kind::Request && step.method == INITIALIZE;
                if begins && !steps.is_empty() {
                    return Err(RecordingError::SecondConnection(number));
                }
                if let Some(request) = step.request {
                    match step.kind {
                        Kind::Request => drop(sessions.insert(request, step.session.clone())),
                        Kind::Response => {
                            step.session = sessions.remove(&request).unwrap_or_default();
                        }
                        Kind::Notification => {}
                    }
                }
                let time = humantime::parse_rfc3339(&line.time).ok();
                let between = time.zip(last);
                step.after = between
                    .and_then(|(time, last)| time.duration_since(last).ok())
                    .unwrap_or_default();
                last = time.or(last);
                steps.push(step);
            }
        }
        if steps.iter().any(|step| step.is_ours) {
            Ok(Self { side, steps })
        } else {
            Err(RecordingError::Empty(side))
        }
    }
}

fn step(number: usize, line: &Line, is_ours: bool) -> serde_json::Result<Option<Step>> {
    let (Some(kind), Some(method)) = (line.kind, line.method.clone()) else {
        return Ok(None);
    };
    let mut body = match line.body() {
        Some(body) => read_whole(body.as_bytes())?,
        None => Value::Null,
    };
    if is_ours && kind == Kind::Request {
        remove_own_servers(&mut body);
    }
    if !is_ours && kind == Kind::Response && method == INITIALIZE {
        body = without_acp(body);
    }
    Ok(Some(Step {
        line: number,
        after: Duration::ZERO,
        is_ours,
        kind,
        method,
        request: line.request,
        session: session(&body),
        is_error: line.error.is_some(),
        body,
    }))
}

/// The session named in the parameters.
pub fn session(params: &Value) -> Option<String> {
    params.get("sessionId")?.as_str().map(str::to_owned)
}

/// An answer to `initialize`, without the capability that the host adds: MCP servers over ACP.
pub fn without_acp(mut result: Value) -> Value {
    let [capabilities, servers] = ["agentCapabilities", "mcpCapabilities"];
    if let Some(Value::Object(all)) = result.get_mut(capabilities) {
        if let Some(Value::Object(ways)) = all.get_mut(servers) {
            ways.remove("acp");
            if ways.is_empty() {
                all.remove(servers);
            }
        }
        if all.is_empty()
            && let Value::Object(members) = &mut result
        {
            members.remove(capabilities);
        }
    }
    result
}

/// Removes the servers that the host declares from the parameters of a session.
fn remove_own_servers(params: &mut Value) {
    if let Some(Value::Array(servers)) = params.get_mut("mcpServers") {
        servers.retain(|server| {
            let id = server.get("serverId").and_then(Value::as_str);
            !id.is_some_and(|id| id.starts_with(OWN_SERVER))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(params: &str) -> Result<Recording, RecordingError> {
        let beginning = r#"{"from":"client","to":"agent","kind":"notification","method":"a/b""#;
        let trace = format!("{beginning}}}\n{beginning},\"params\":{params}}}\n");
        Recording::read(&mut Reader::new(trace.as_bytes()), Peer::Client)
    }

    #[test]
    fn a_message_is_never_left_out() {
        let recording = read(r#""\ud800""#).unwrap();
        assert_eq!(recording.steps[1].body, "\u{fffd}");
        let deep = "[".repeat(200) + &"]".repeat(200);
        for params in ["1e999", &deep] {
            let error = read(params).unwrap_err().to_string();
            let expected = "2: this message cannot be played: ";
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
