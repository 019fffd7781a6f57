//! The results of calls.

use serde_json::{Value, json};

use crate::bindings::calls::Outcome;
use crate::bindings::channel;
use crate::bindings::tools::ToolCall;
use crate::bindings::types::{Action, MessageId, Peer, RpcError};
use crate::{EXTRA, SLOW, say};

/// The code of JSON-RPC's invalid params.
const INVALID_PARAMS: i32 = -32602;
/// The code of a cancelled request.
const CANCELLED: i32 = -32800;

pub(crate) fn run(call: &ToolCall) -> Result<Outcome, RpcError> {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    match call.name.as_str() {
        "echo" => Ok(text(arguments["text"].as_str().unwrap_or("no text"))),
        "session" => Ok(text(call.session.as_deref().unwrap_or("none"))),
        "add" => {
            let number = |name| arguments[name].as_f64().unwrap_or(f64::NAN);
            Ok(structured(json!({ "sum": number("a") + number("b") })))
        }
        "bad-output" => Ok(structured(json!({ "sum": "three" }))),
        "fail" => Ok(done(json!({
            "content": [{ "type": "text", "text": "it failed, as it was told to" }],
            "isError": true,
        }))),
        "protocol-error" => Err(error(INVALID_PARAMS, "not like this")),
        "slow" => Ok(slow(call)),
        "elicit" => Ok(elicit(call)),
        "meta" => Ok(text(&channel::call_meta(call.id).unwrap_or_default())),
        "progress" => {
            for (progress, message) in [(1.0, Some("one")), (2.0, None), (3.0, Some("three"))] {
                let _ = channel::report_progress(call.id, progress, Some(3.0), message);
            }
            Ok(text("three steps"))
        }
        "trap" => panic!("as requested"),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "bad-result" => Ok(done(json!({ "what": "is this" }))),
        "not-json" => Ok(Outcome::Done("{\"content\":[".to_owned())),
        "change" => {
            EXTRA.set(true);
            match channel::tools_changed() {
                Ok(()) => Ok(text("there is `extra` now")),
                Err(refused) => Ok(text(&format!("nobody was told: {refused:?}"))),
            }
        }
        "hold-forever" => Ok(Outcome::Pending),
        name if name == "extra" || name.starts_with("many-") => Ok(text(name)),
        name => Err(error(INVALID_PARAMS, &format!("there is no tool `{name}`"))),
    }
}

fn slow(call: &ToolCall) -> Outcome {
    let params = json!({ "sessionId": call.session }).to_string();
    match channel::request(Peer::Client, "_test/gate", &params) {
        Ok(gate) => {
            SLOW.with_borrow_mut(|slow| slow.insert(gate, call.id));
            Outcome::Pending
        }
        Err(refused) => text(&format!("the gate was not asked for: {refused:?}")),
    }
}

/// Sends the caller a request; its answer is handled like that of the gate.
fn elicit(call: &ToolCall) -> Outcome {
    let params =
        json!({ "message": "Which?", "requestedSchema": { "type": "object" } }).to_string();
    match channel::ask_caller(call.id, "elicitation/create", &params) {
        Ok(asked) => {
            SLOW.with_borrow_mut(|slow| slow.insert(asked, call.id));
            Outcome::Pending
        }
        Err(refused) => text(&format!("nobody was asked: {refused:?}")),
    }
}

/// Settles a call of `slow` or `elicit` with the answer that it waits for.
pub(crate) fn gate_opened(call: MessageId, answer: Result<String, RpcError>) {
    let result = match answer {
        Ok(answer) => content(&answer),
        Err(error) => content(&error.message),
    };
    settle(call, &Action::Respond(result.to_string()));
}

/// Rejects a cancelled call of `slow`, and cancels the request that it waits for.
pub(crate) fn give_up(call: MessageId, gate: MessageId) {
    let _ = channel::cancel(gate);
    settle(call, &Action::Reject(error(CANCELLED, "Request cancelled")));
}

fn settle(call: MessageId, action: &Action) {
    if let Err(refused) = channel::settle(call, action) {
        say(&format!("call {call} is not settled: {refused:?}"));
    }
}

fn text(text: &str) -> Outcome {
    done(content(text))
}

fn content(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn structured(data: Value) -> Outcome {
    let mut result = content(&data.to_string());
    result["structuredContent"] = data;
    done(result)
}

fn done(result: Value) -> Outcome {
    Outcome::Done(result.to_string())
}

fn error(code: i32, message: &str) -> RpcError {
    RpcError {
        code,
        message: message.to_owned(),
        data: None,
    }
}
