use std::time::Duration;

use acp_chain_proxy::acp::{AFTER_TOOL, BEFORE_TOOL, CANCEL, PERMISSION, PROMPT, UPDATE};
use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use acp_chain_proxy::{MessageId, Peer};
use serde_json::{Value, json};

use super::TwoOfThree;

mod calls;
mod config;
mod every_day;
mod orders;
mod stored;
mod unheld;

/// The powers in `Cargo.toml`.
const LEAST: &[&str] = &[
    "capabilities.read",
    "session-setup.read",
    "turns.read",
    "turns.stop",
    "prompts.read",
    "prompts.answer",
    "history.read",
    "answers.send",
    "tool-calls.read",
    "permissions.read",
    "permissions.answer",
    "permissions.ask",
    "tool-runs.read",
    "tool-runs.refuse",
    "tool-results.read",
    "tool-results.change",
    "files.watch",
    "files.refuse",
    "terminals.watch",
    "terminals.refuse",
    "values.keep",
];

/// A token that is no example.
const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

/// A host whose session `s` works in `/proj`.
fn host(config: Value) -> Host {
    let mut host = Host::start::<TwoOfThree>(config).expect("right");
    host.powers(LEAST);
    open(&mut host, "s");
    host
}

/// A new session.
fn open(host: &mut Host, session: &str) {
    let params = json!({ "cwd": "/proj", "mcpServers": [] });
    let id = host.request(Peer::Client, "session/new", params);
    host.answer(id, json!({ "sessionId": session }));
    host.sent();
}

/// What has left the proxy.
#[derive(Debug, Default)]
struct Seen {
    /// The runs, results, prompts and requests of the agent that pass.
    passed: Vec<MessageId>,
    /// The reasons for those that are refused.
    refused: Vec<String>,
    /// The answers to prompts and permission requests.
    answers: Vec<SentMessage>,
    /// The proxy's own questions.
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
            (PERMISSION, SentKind::Request) if sent.at("/options/1/optionId") == "yes" => {
                seen.questions.push(sent);
            }
            (UPDATE, SentKind::Notification) => {
                let text = sent.get::<String>("/update/content/text");
                seen.told += &text.unwrap_or_default();
            }
            (CANCEL, SentKind::Notification) => seen.stops += 1,
            (_, SentKind::Request) => seen.passed.push(sent.id),
            (_, SentKind::Response) => match &sent.body {
                Ok(_) => seen.answers.push(sent),
                Err(error) => seen.refused.push(error.message.clone()),
            },
            _ => {}
        }
    }
    seen
}

/// The only question that was asked, with its title.
fn question(host: &mut Host) -> (MessageId, String) {
    let mut seen = seen(host);
    assert_eq!(seen.questions.len(), 1, "{seen:?}");
    let question = seen.questions.remove(0);
    let title = question.get("/toolCall/title").expect("a title");
    (question.id, title)
}

/// A person answers.
fn answer(host: &mut Host, question: MessageId, option: &str) {
    host.elapse(Duration::from_secs(2));
    let outcome = json!({ "outcome": "selected", "optionId": option });
    host.answer(question, json!({ "outcome": outcome }));
}

fn prompt(host: &mut Host, text: &str) -> MessageId {
    prompt_in(host, "s", text)
}

fn prompt_in(host: &mut Host, session: &str, text: &str) -> MessageId {
    let block = json!({ "type": "text", "text": text });
    let params = json!({ "sessionId": session, "prompt": [block] });
    host.request(Peer::Client, PROMPT, params)
}

/// A hook reports that a tool is about to run.
fn run(host: &mut Host, call: &Value) -> MessageId {
    run_in(host, "s", call)
}

fn run_in(host: &mut Host, session: &str, call: &Value) -> MessageId {
    let server = call["server"].clone();
    let mut params = json!({ "sessionId": session, "toolCall": call, "canChange": true });
    if !server.is_null() {
        params["server"] = server;
    }
    host.request(Peer::Agent, BEFORE_TOOL, params)
}

fn bash(command: &str) -> Value {
    json!({
        "title": "Bash", "kind": "execute", "status": "pending", "locations": [],
        "rawInput": { "command": command },
    })
}

fn fetch() -> Value {
    json!({
        "title": "WebFetch", "kind": "fetch", "status": "pending", "locations": [],
        "rawInput": { "url": "https://example.com/page" },
    })
}

/// A tool that reads or changes a file.
fn file(kind: &str, path: &str) -> Value {
    json!({
        "title": kind, "kind": kind, "status": "pending", "locations": [{ "path": path }],
        "rawInput": { "file_path": path },
    })
}

/// A hook reports a result.
fn result(host: &mut Host, output: &str) -> MessageId {
    let mut call = bash("make");
    call["status"] = "completed".into();
    let params = json!({
        "sessionId": "s", "toolCall": call, "output": [output], "canChange": true,
    });
    host.request(Peer::Agent, AFTER_TOOL, params)
}

/// Runs that pass without a question. Returns the notices.
fn pass(host: &mut Host, calls: &[Value]) -> String {
    let mut told = String::new();
    for call in calls {
        let id = run(host, call);
        let seen = seen(host);
        assert_eq!(seen.passed, [id], "{call}: {seen:?}");
        told += &seen.told;
    }
    told
}

/// Begins a turn of the session `s`.
fn begin(host: &mut Host) -> MessageId {
    let id = prompt(host, "hello");
    let seen = seen(host);
    assert_eq!(seen.passed, [id], "{seen:?}");
    id
}
