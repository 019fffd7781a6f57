use acp_chain_proxy::Peer;
use acp_chain_proxy::testing::{Host, SentKind};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Permissions;

mod agents;
mod calls;
mod carried;
mod commands;
mod config;
mod decision;
mod elicitations;
mod every_day;
mod folding;
mod imported;
mod members;
mod paths;
mod property;
mod protected;
mod reports;
mod requests;
mod respelling;
mod restart;
mod runs;
#[cfg(unix)]
mod shells;
mod spellings;
mod ways;

/// The powers in the README.
const LEAST: &[&str] = &[
    "capabilities.read",
    "session-setup.read",
    "turns.read",
    "tool-calls.read",
    "other-updates.read",
    "permissions.read",
    "permissions.answer",
    "permissions.ask",
    "tool-runs.read",
    "tool-runs.refuse",
    "files.watch",
    "files.refuse",
    "terminals.watch",
    "terminals.refuse",
    "questions.read",
    "questions.answer",
    "tool-calls.send",
    "answers.send",
];

/// A host whose session `s` works in `/proj`.
fn host(rules: Value) -> Host {
    let mut host = Host::start::<Permissions>(json!({ "rules": rules })).expect("right");
    host.powers(LEAST);
    open(&mut host, "/proj");
    host
}

fn open(host: &mut Host, cwd: &str) {
    let id = host.request(
        Peer::Client,
        "session/new",
        json!({ "cwd": cwd, "mcpServers": [] }),
    );
    host.answer(id, json!({ "sessionId": "s" }));
    host.sent();
}

fn options(kinds: &[&str]) -> Value {
    kinds
        .iter()
        .map(|kind| json!({ "optionId": format!("id of {kind}"), "name": "", "kind": kind }))
        .collect()
}

const ALL: &[&str] = &["reject_always", "allow_always", "allow_once", "reject_once"];

/// The kind of option that was chosen, `cancelled`, or `ask`.
fn ask(host: &mut Host, call: Value) -> String {
    choose(
        host,
        json!({ "sessionId": "s", "toolCall": call, "options": options(ALL) }),
    )
}

fn choose(host: &mut Host, params: impl Serialize) -> String {
    host.request(Peer::Agent, "session/request_permission", params);
    // Before it, the user may be shown the decision about the call.
    let sent = host.sent().pop().expect("the request or its answer");
    if sent.what == SentKind::Request {
        assert_eq!(sent.to, Peer::Client);
        return "ask".into();
    }
    assert_eq!(sent.to, Peer::Agent);
    if sent.at("/outcome/outcome") == "cancelled" {
        return "cancelled".into();
    }
    assert_eq!(sent.at("/outcome/outcome"), "selected");
    let chosen: String = sent.get("/outcome/optionId").expect("an option");
    chosen.replace("id of ", "")
}

fn call(kind: &str, title: &str, paths: &[&str]) -> Value {
    let locations: Value = paths
        .iter()
        .map(|path| json!({ "path": path, "line": 1 }))
        .collect();
    json!({ "toolCallId": "t", "kind": kind, "title": title, "locations": locations })
}

/// Parameters whose spelling matters.
fn raw(json: &str) -> Box<RawValue> {
    serde_json::from_str(json).expect("JSON")
}

fn update(host: &mut Host, update: Value) {
    host.notify(
        Peer::Agent,
        "session/update",
        json!({ "sessionId": "s", "update": update }),
    );
    host.sent();
}

/// An update, as it is spelt.
fn update_raw(host: &mut Host, update: &str) {
    let params = format!(r#"{{ "sessionId": "s", "update": {update} }}"#);
    host.notify(Peer::Agent, "session/update", raw(&params));
    host.sent();
}

fn call_update(kind: &str, id: &str, more: &Value) -> Value {
    let mut update = json!({ "sessionUpdate": kind, "toolCallId": id });
    for (name, value) in more.as_object().expect("members") {
        update[name] = value.clone();
    }
    update
}
