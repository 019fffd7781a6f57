use acp_chain_proxy::Peer;
use acp_chain_proxy::testing::{Grant, Host, What};
use serde_json::{Value, json};

use super::Permissions;

mod restart;

/// That of the README.
const LEAST: Grant = Grant {
    observe: &[
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/prompt",
        "session/update",
        "session/request_permission",
    ],
    change: &[],
    answer: &["session/request_permission"],
    originate: &[],
    tools: false,
};

/// A host whose session `s` works in `/proj`.
fn host(rules: Value) -> Host {
    let mut host = Host::start::<Permissions>(json!({ "rules": rules })).expect("right");
    host.grant(LEAST);
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

/// The kind of option that was chosen, or `ask`.
fn ask(host: &mut Host, call: Value) -> String {
    choose(
        host,
        json!({ "sessionId": "s", "toolCall": call, "options": options(ALL) }),
    )
}

fn choose(host: &mut Host, params: Value) -> String {
    host.request(Peer::Agent, "session/request_permission", params);
    let sent = host.sent().remove(0);
    if sent.what == What::Request {
        assert_eq!(sent.to, Peer::Client);
        return "ask".into();
    }
    assert_eq!(
        (sent.to, sent.at("/outcome/outcome")),
        (Peer::Agent, json!("selected"))
    );
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

fn update(host: &mut Host, update: Value) {
    host.notify(
        Peer::Agent,
        "session/update",
        json!({ "sessionId": "s", "update": update }),
    );
    host.sent();
}

#[test]
fn without_rules_the_user_is_asked() {
    assert_eq!(ask(&mut host(json!([])), call("read", "x", &[])), "ask");
}

#[test]
fn the_first_rule_that_matches_decides() {
    let mut host = host(json!([
        { "decision": "ask", "title": "*secret*" },
        { "decision": "allow", "kind": ["read", "search"] },
        { "decision": "deny", "kind": "execute" },
        { "decision": "allow" },
    ]));
    for (kind, title, expected) in [
        ("read", "Read a secret", "ask"),
        ("read", "Read", "allow_once"),
        ("execute", "rm", "reject_once"),
        ("other", "anything", "allow_once"),
    ] {
        assert_eq!(ask(&mut host, call(kind, title, &[])), expected);
    }
}

#[test]
fn a_rule_may_take_the_option_that_is_remembered() {
    let mut host = host(json!([
        { "decision": "allow", "kind": "read", "remember": true },
        { "decision": "deny", "remember": true },
    ]));
    assert_eq!(ask(&mut host, call("read", "", &[])), "allow_always");
    assert_eq!(ask(&mut host, call("edit", "", &[])), "reject_always");
}

#[test]
fn the_other_option_is_taken_where_one_is_missing_and_the_user_is_asked_where_both_are() {
    let mut host = host(json!([{ "decision": "allow" }]));
    for (offered, expected) in [
        (&["allow_always", "reject_once"][..], "allow_always"),
        (&["reject_once"], "ask"),
        (&["new_kind"], "ask"),
        (&[], "ask"),
    ] {
        let call = call("read", "", &[]);
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options(offered) });
        assert_eq!(choose(&mut host, params), expected);
    }
}

#[test]
fn allowing_needs_all_paths_and_denying_any() {
    let rules = |decision: &str| json!([{ "decision": decision, "path": "/proj/**" }]);
    for (paths, allowed, denied) in [
        (&["/proj/a", "/proj/b/c"][..], "allow_once", "reject_once"),
        (&["/proj/a", "/etc/passwd"], "ask", "reject_once"),
        (&["/etc/passwd"], "ask", "ask"),
        (&[], "ask", "ask"),
        (&["/proj/../etc/passwd"], "ask", "ask"),
        (&["/etc/../proj/./a"], "allow_once", "reject_once"),
        (&["/project/a"], "ask", "ask"),
        (&["a"], "ask", "reject_once"),
        (&["../etc/passwd"], "ask", "ask"),
        (&["file:///proj/a"], "ask", "reject_once"),
    ] {
        let call = call("edit", "", paths);
        assert_eq!(
            ask(&mut host(rules("allow")), call.clone()),
            allowed,
            "{paths:?}"
        );
        assert_eq!(ask(&mut host(rules("deny")), call), denied, "{paths:?}");
    }
}

#[test]
fn paths_may_be_meant_from_the_directory_of_the_session() {
    let mut host = host(json!([
        { "decision": "deny", "path": ["**/.env", "**/.env.*"] },
        { "decision": "allow", "path": "./**" },
    ]));
    for (path, expected) in [
        ("/proj/a/b.rs", "allow_once"),
        ("/proj/.env", "reject_once"),
        ("/proj/sub/.ENV.local", "reject_once"),
        ("/proj/../other/b.rs", "ask"),
        ("/Proj/a", "ask"),
    ] {
        assert_eq!(
            ask(&mut host, call("edit", "", &[path])),
            expected,
            "{path}"
        );
    }
    open(&mut host, "/weird [dir]{*}");
    assert_eq!(
        ask(&mut host, call("edit", "", &["/weird [dir]{*}/a"])),
        "allow_once"
    );
    assert_eq!(ask(&mut host, call("edit", "", &["/proj/a"])), "ask");
}

#[test]
fn windows_paths_are_matched_in_either_spelling() {
    let mut host = host(json!([{ "decision": "allow", "path": [r"c:\proj\**", "./src/*"] }]));
    open(&mut host, r"D:\work");
    for (path, expected) in [
        (r"C:\proj\a\b.rs", "allow_once"),
        ("c:/proj/a", "allow_once"),
        (r"C:\proj\..\Windows\x", "ask"),
        (r"d:\work\src\a.rs", "allow_once"),
        (r"d:\work\a.rs", "ask"),
    ] {
        assert_eq!(
            ask(&mut host, call("edit", "", &[path])),
            expected,
            "{path}"
        );
    }
}

#[test]
fn the_files_of_diffs_count_in_both_versions() {
    let mut host = host(json!([{ "decision": "allow", "path": "./**" }]));
    let diff = |path: &str| json!({ "type": "diff", "path": path, "newText": "" });
    let changes = |from: &str, to: &str| json!({ "type": "diff", "changes": [{ "operation": "move", "oldPath": from, "path": to }] });
    for (content, expected) in [
        (json!([diff("/proj/a")]), "allow_once"),
        (json!([diff("/proj/a"), diff("/etc/b")]), "ask"),
        (json!([changes("/proj/a", "/proj/b")]), "allow_once"),
        (json!([changes("/etc/a", "/proj/b")]), "ask"),
        (
            json!([{ "type": "content", "content": { "type": "text", "text": "/proj/a" } }]),
            "ask",
        ),
    ] {
        let call = json!({ "toolCallId": "t", "content": content });
        assert_eq!(ask(&mut host, call), expected);
    }
}

#[test]
fn what_was_sent_earlier_counts_until_the_turn_ends() {
    let rules = json!([{ "decision": "allow", "kind": "edit", "title": "Edit *", "path": "./**" }]);
    let bare = json!({ "toolCallId": "t" });
    let mut host = host(rules);
    let prompt = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Edit", "kind": "edit" }),
    );
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit a.rs" }),
    );
    assert_eq!(
        ask(&mut host, bare.clone()),
        "ask",
        "no paths are known yet"
    );
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t",
        "locations": [{ "path": "/proj/a.rs" }] }),
    );
    assert_eq!(ask(&mut host, bare.clone()), "allow_once");
    assert_eq!(ask(&mut host, json!({ "toolCallId": "other" })), "ask");
    let elsewhere = json!({ "toolCallId": "t", "locations": [{ "path": "/etc/passwd" }] });
    assert_eq!(
        ask(&mut host, elsewhere),
        "ask",
        "every path that was named counts"
    );

    host.answer(prompt, json!({ "stopReason": "end_turn" }));
    host.sent();
    assert_eq!(ask(&mut host, bare), "ask");
}

#[test]
fn in_version_2_a_turn_ends_when_the_session_is_idle() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let bare = json!({ "toolCallId": "t" });
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "read" }),
    );
    let prompt = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
    host.answer(prompt, json!({ "messageId": "m" }));
    host.sent();
    assert_eq!(ask(&mut host, bare.clone()), "allow_once");
    update(
        &mut host,
        json!({ "sessionUpdate": "state_update", "state": "idle" }),
    );
    assert_eq!(ask(&mut host, bare), "ask");
}

#[test]
fn requests_of_version_2_are_understood() {
    let mut host = host(
        json!([{ "decision": "allow", "kind": "read" }, { "decision": "deny", "title": "Elevate*" }]),
    );
    let subject = json!({ "type": "tool_call", "toolCall": { "toolCallId": "t", "kind": "read" } });
    for (title, subject, expected) in [
        ("May I?", subject, "allow_once"),
        ("Elevate?", Value::Null, "reject_once"),
        ("May I?", json!({ "type": "new" }), "ask"),
    ] {
        let params = json!({ "sessionId": "s", "title": title, "subject": subject, "options": options(ALL) });
        assert_eq!(choose(&mut host, params), expected);
    }
}

#[test]
fn what_cannot_be_read_is_never_allowed() {
    let mut host = host(json!([{ "decision": "allow" }]));
    assert_eq!(
        ask(
            &mut host,
            json!({ "toolCallId": "t", "locations": [{ "uri": "x" }] })
        ),
        "ask"
    );
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "locations": "all" }),
    );
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "t", "kind": "read" })),
        "ask"
    );
    let many: Vec<_> = (0..2000)
        .map(|n| json!({ "path": format!("/proj/{n}") }))
        .collect();
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "locations": many })),
        "ask"
    );
    let title = "x".repeat(100_000);
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "title": title })),
        "ask"
    );
}

#[test]
fn only_so_many_calls_are_remembered() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    for number in 0..300 {
        update(
            &mut host,
            json!({ "sessionUpdate": "tool_call", "toolCallId": number.to_string(), "kind": "read" }),
        );
    }
    assert_eq!(ask(&mut host, json!({ "toolCallId": "0" })), "ask");
    assert_eq!(ask(&mut host, json!({ "toolCallId": "299" })), "allow_once");
}

#[test]
fn what_is_wrong_with_a_rule_is_named() {
    for (rule, expected) in [
        (json!({ "decision": "alow" }), "unknown variant `alow`"),
        (
            json!({ "decision": "allow", "paths": [] }),
            "unknown field `paths`",
        ),
        (
            json!({ "decision": "allow", "path": "src/**" }),
            "in rule 1 of `rules`: `path` has `src/**`",
        ),
        (
            json!({ "decision": "allow", "path": "!/a" }),
            "a glob with `!`",
        ),
        (
            json!({ "decision": "ask", "remember": true }),
            "`remember` has no meaning",
        ),
        (json!({ "kind": "read" }), "missing field `decision`"),
    ] {
        let error = Host::start::<Permissions>(json!({ "rules": [rule] })).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}
