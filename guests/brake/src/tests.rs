use std::time::{Duration, UNIX_EPOCH};

use acp_chain_proxy::acp::{BEFORE_TOOL, CANCEL, PERMISSION, PROMPT, UPDATE};
use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use acp_chain_proxy::{MessageId, Peer};
use serde_json::{Value, json};

use super::Guard;

mod config;
mod limits;
mod property;
mod repeats;
mod stored;
mod unheld;
mod usage;
mod versions;

/// The powers in the README.
const LEAST: &[&str] = &[
    "capabilities.read",
    "turns.read",
    "turns.stop",
    "prompts.answer",
    "answers.send",
    "tool-calls.read",
    "permissions.read",
    "permissions.ask",
    "tool-runs.read",
    "tool-runs.refuse",
    "values.keep",
];

/// The 1st of March 2026 at noon, in UTC.
const NOON: u64 = 1_772_366_400;
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// Sets the clock, in seconds.
fn set_time(host: &mut Host, time: u64) {
    host.set_time(UNIX_EPOCH + Duration::from_secs(time));
}

/// In these tests, the user answers at once.
fn host(mut config: Value) -> Host {
    let table = config.as_object_mut().expect("a table");
    table
        .entry("least-milliseconds")
        .or_insert_with(|| json!(0));
    let mut host = Host::start::<Guard>(config).expect("right");
    set_time(&mut host, NOON);
    host.powers(LEAST);
    host
}

/// What has left the brake.
#[derive(Debug, Default)]
struct Seen {
    /// The runs that pass.
    passed: Vec<MessageId>,
    /// The reasons for runs that are refused.
    refused: Vec<String>,
    /// The prompts that pass.
    prompts: Vec<MessageId>,
    /// The answers to prompts, of the agent or the brake.
    answers: Vec<SentMessage>,
    /// The brake's own questions.
    questions: Vec<SentMessage>,
    /// All notices.
    told: String,
    /// How many turns were stopped.
    stops: usize,
}

fn seen(host: &mut Host) -> Seen {
    let mut seen = Seen::default();
    for sent in host.sent() {
        match (&*sent.method, sent.what) {
            (BEFORE_TOOL, SentKind::Request) => seen.passed.push(sent.id),
            (BEFORE_TOOL, SentKind::Response) => {
                let error = sent.body.expect_err("a refusal");
                seen.refused.push(error.message);
            }
            (PROMPT, SentKind::Request) => seen.prompts.push(sent.id),
            (PROMPT, SentKind::Response) => seen.answers.push(sent),
            (PERMISSION, SentKind::Request) if sent.at("/options/0/optionId") == "go-on" => {
                seen.questions.push(sent);
            }
            (UPDATE, SentKind::Notification) => {
                let text = sent.get::<String>("/update/content/text");
                let notice = sent.get::<String>("/update/title");
                let is_notice = sent.at("/update/sessionUpdate") == "notice";
                seen.told += &text.or(notice.filter(|_| is_notice)).unwrap_or_default();
            }
            (CANCEL, SentKind::Notification) => seen.stops += 1,
            _ => {}
        }
    }
    seen
}

/// The only question that was asked.
fn question(host: &mut Host) -> SentMessage {
    let mut seen = seen(host);
    assert_eq!(seen.questions.len(), 1, "{seen:?}");
    seen.questions.remove(0)
}

fn answer(host: &mut Host, question: &SentMessage, option: &str) {
    let outcome = json!({ "outcome": "selected", "optionId": option });
    host.answer(question.id, json!({ "outcome": outcome }));
}

/// A prompt of the session `s`.
fn prompt(host: &mut Host) -> MessageId {
    host.request(
        Peer::Client,
        PROMPT,
        json!({ "sessionId": "s", "prompt": [] }),
    )
}

/// A prompt that passes.
fn begin(host: &mut Host) -> MessageId {
    let id = prompt(host);
    let seen = seen(host);
    assert_eq!(seen.prompts, [id], "{seen:?}");
    id
}

/// The agent answers a prompt.
fn end(host: &mut Host, prompt: MessageId) {
    host.answer(prompt, json!({ "stopReason": "end_turn" }));
}

/// A hook reports a run, which differs from others by its number.
fn run(host: &mut Host, number: usize) -> MessageId {
    report(host, Some(&format!("c{number}")), &format!("make {number}"))
}

fn report(host: &mut Host, id: Option<&str>, command: &str) -> MessageId {
    let mut call = json!({
        "title": "Bash", "kind": "execute", "status": "pending", "locations": [],
        "rawInput": { "command": command },
    });
    if let Some(id) = id {
        call["toolCallId"] = id.into();
    }
    let params = json!({ "sessionId": "s", "toolCall": call, "canChange": true });
    host.request(Peer::Agent, BEFORE_TOOL, params)
}

/// The agent sends an update of the session `s`.
fn update(host: &mut Host, update: &Value) {
    let params = json!({ "sessionId": "s", "update": update });
    host.notify(Peer::Agent, UPDATE, params);
}

/// The agent shows a call that no hook has reported.
fn mention(host: &mut Host, number: usize) {
    let shown = json!({
        "sessionUpdate": "tool_call", "toolCallId": format!("c{number}"), "title": "Bash",
        "kind": "execute", "status": "pending", "rawInput": { "command": format!("make {number}") },
    });
    update(host, &shown);
}
