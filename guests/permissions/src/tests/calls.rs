//! What is known of a call when permission for it is requested.

use super::*;

fn turn(host: &mut Host) -> u64 {
    host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }))
}

#[test]
fn earlier_updates_count_until_the_turn_ends() {
    let rules = json!([{ "decision": "allow", "kind": "edit", "title": "Edit *", "path": "./**" }]);
    let bare = json!({ "toolCallId": "t" });
    let mut host = host(rules);
    let prompt = turn(&mut host);
    let title = json!({ "title": "Edit a.rs", "kind": "edit" });
    update(&mut host, call_update("tool_call", "t", &title));
    assert_eq!(
        ask(&mut host, bare.clone()),
        "ask",
        "no paths are known yet"
    );
    let paths = json!({ "locations": [{ "path": "/proj/a.rs" }], "title": null });
    update(&mut host, call_update("tool_call_update", "t", &paths));
    assert_eq!(ask(&mut host, bare.clone()), "allow_once");
    assert_eq!(ask(&mut host, json!({ "toolCallId": "other" })), "ask");

    host.answer(prompt, json!({ "stopReason": "end_turn" }));
    host.sent();
    assert_eq!(ask(&mut host, bare), "ask");
}

#[test]
fn every_update_of_a_call_counts() {
    let rules = json!([
        { "decision": "deny", "kind": "delete" },
        { "decision": "deny", "title": "*secret*" },
        { "decision": "deny", "path": "**/secret" },
        { "decision": "allow", "kind": "read", "title": "Read *", "path": "./**" },
    ]);
    let asked = json!({ "toolCallId": "t", "kind": "read", "title": "Read a",
        "locations": [{ "path": "/proj/a" }], "content": null });
    for (before, expected) in [
        (json!({}), "allow_once"),
        (json!({ "kind": "read", "title": "Read it" }), "allow_once"),
        (json!({ "kind": "execute" }), "ask"),
        (json!({ "kind": "delete" }), "reject_once"),
        (json!({ "title": "Terminal" }), "ask"),
        (json!({ "title": "Read a secret" }), "reject_once"),
        (json!({ "locations": [{ "path": "/etc/passwd" }] }), "ask"),
        (
            json!({ "locations": [{ "path": "/proj/Secret" }] }),
            "reject_once",
        ),
        (
            json!({ "content": [{ "type": "diff", "path": "/proj/b", "newText": "" }] }),
            "ask",
        ),
        (
            json!({ "content": [{ "type": "terminal", "terminalId": "1" }] }),
            "allow_once",
        ),
    ] {
        let mut host = host(rules.clone());
        update(&mut host, call_update("tool_call", "t", &before));
        update(
            &mut host,
            call_update(
                "tool_call_update",
                "t",
                &json!({ "kind": "read", "title": null, "locations": [] }),
            ),
        );
        assert_eq!(ask(&mut host, asked.clone()), expected, "{before}");
    }
}

#[test]
fn in_version_2_a_turn_ends_when_the_session_is_idle() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let bare = json!({ "toolCallId": "t" });
    update(
        &mut host,
        call_update("tool_call_update", "t", &json!({ "kind": "read" })),
    );
    let prompt = turn(&mut host);
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
fn a_call_of_an_earlier_turn_is_unclear() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let said_read = call_update("tool_call", "t", &json!({ "kind": "read" }));
    update(
        &mut host,
        call_update("tool_call", "t", &json!({ "kind": "execute" })),
    );
    update(
        &mut host,
        json!({ "sessionUpdate": "state_update", "state": "idle" }),
    );
    update(&mut host, said_read);
    assert_eq!(ask(&mut host, call("read", "", &[])), "ask");
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "kind": "read" })),
        "allow_once"
    );
}

#[test]
fn updates_replayed_by_session_load_are_history() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let loaded = json!({ "sessionId": "s", "cwd": "/proj", "mcpServers": [] });
    let load = host.request(Peer::Client, "session/load", loaded);
    update(
        &mut host,
        call_update("tool_call", "t", &json!({ "kind": "read" })),
    );
    host.answer(load, json!({}));
    host.sent();
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "t", "kind": "read" })),
        "ask"
    );
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "kind": "read" })),
        "allow_once"
    );
}

#[test]
fn a_call_that_was_forgotten_is_unclear_and_not_unknown() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let long = "x".repeat(100_000);
    for number in 0..60 {
        let title = json!({ "kind": "read", "title": long });
        update(
            &mut host,
            call_update("tool_call", &number.to_string(), &title),
        );
    }
    let asked = |id: &str| json!({ "toolCallId": id, "kind": "read" });
    assert_eq!(ask(&mut host, asked("0")), "ask");
    update(
        &mut host,
        call_update("tool_call_update", "0", &json!({ "kind": "read" })),
    );
    assert_eq!(
        ask(&mut host, asked("0")),
        "ask",
        "not treated as a new call either"
    );
    assert_eq!(ask(&mut host, asked("59")), "allow_once");
    assert_eq!(ask(&mut host, asked("60")), "allow_once");
}

#[test]
fn many_small_calls_are_remembered() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    for number in 0..2000 {
        update(
            &mut host,
            call_update("tool_call", &number.to_string(), &json!({ "kind": "read" })),
        );
    }
    for id in ["0", "1999"] {
        assert_eq!(ask(&mut host, json!({ "toolCallId": id })), "allow_once");
    }
}

#[test]
fn with_too_many_names_to_keep_nothing_is_allowed_until_the_turn_ends() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    for number in 0..80_000 {
        update(
            &mut host,
            call_update("tool_call", &number.to_string(), &json!({ "kind": "read" })),
        );
    }
    let asked = |id: &str| json!({ "toolCallId": id, "kind": "read" });
    assert_eq!(ask(&mut host, asked("0")), "ask");
    assert_eq!(ask(&mut host, asked("new")), "ask");
    update(
        &mut host,
        json!({ "sessionUpdate": "state_update", "state": "idle" }),
    );
    assert_eq!(ask(&mut host, asked("newer")), "allow_once");
}

#[test]
fn after_an_update_of_an_unidentified_call_none_is_allowed_in_its_turn() {
    for update in [
        r#"{ "sessionUpdate": "tool_call", "kind": "execute" }"#,
        r#"{ "sessionUpdate": "tool_call", "toolCallId": 7, "kind": "execute" }"#,
        r#"{ "sessionUpdate": "tool_call", "toolCallId": "a\ud800", "kind": "execute" }"#,
        r#"{ "sessionUpdate": "tool_call", "toolCallId": "a", "toolCallId": "b" }"#,
        r#"{ "sessionUpdate": "tool_call", "toolCallID": "a", "kind": "execute" }"#,
        r#"{ "sessionUpdate": "message", "sessionUpdate": "tool_call", "toolCallId": "a" }"#,
        r#"{ "sessionUpdate": 7, "toolCallId": "a", "kind": "execute" }"#,
        r#"{ "toolCallId": "a", "kind": "execute" }"#,
        r#"{ "sessionUpdate": "x" }, "update": { "sessionUpdate": "tool_call", "toolCallId": "a" }"#,
        "7",
    ] {
        let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
        update_raw(&mut host, update);
        let asked = |id: &str| json!({ "toolCallId": id, "kind": "read" });
        assert_eq!(ask(&mut host, asked("t")), "ask", "{update}");
        let prompt = turn(&mut host);
        host.answer(prompt, json!({ "stopReason": "end_turn" }));
        host.sent();
        assert_eq!(ask(&mut host, asked("u")), "allow_once", "{update}");
    }
}

#[test]
fn updates_that_are_not_about_calls_leave_them_clear() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    for kind in ["agent_message_chunk", "plan", "_own", "state_update"] {
        update(
            &mut host,
            json!({ "sessionUpdate": kind, "state": "running" }),
        );
    }
    assert_eq!(ask(&mut host, call("read", "", &[])), "allow_once");
}

#[test]
fn an_update_that_is_too_long_to_read_leaves_no_call_of_its_turn_clear() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let long = json!({ "rawOutput": "x".repeat(17 * 1024 * 1024), "kind": "execute" });
    update(&mut host, call_update("tool_call_update", "t", &long));
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "t", "kind": "read" })),
        "ask"
    );
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "kind": "read" })),
        "ask"
    );
}

#[test]
fn in_a_session_with_a_name_too_long_to_keep_nothing_is_allowed() {
    let mut host = host(json!([{ "decision": "deny", "title": "rm*" }, { "decision": "allow" }]));
    for (length, title, expected) in [
        (1024, "ls", "allow_once"),
        (1025, "ls", "ask"),
        (1025, "rm", "reject_once"),
    ] {
        let call = call("execute", title, &[]);
        let params =
            json!({ "sessionId": "s".repeat(length), "toolCall": call, "options": options(ALL) });
        assert_eq!(choose(&mut host, params), expected, "{length}");
    }
}

#[test]
fn with_too_many_sessions_to_keep_nothing_is_allowed_until_the_turn_ends() {
    let mut host = host(json!([{ "decision": "allow" }]));
    for number in 0..5000 {
        let params = json!({ "sessionId": number.to_string(), "update": {} });
        host.notify(Peer::Agent, "session/update", params);
    }
    host.sent();
    assert_eq!(ask(&mut host, call("read", "", &[])), "ask");
    update(
        &mut host,
        json!({ "sessionUpdate": "state_update", "state": "idle" }),
    );
    assert_eq!(ask(&mut host, json!({ "toolCallId": "u" })), "allow_once");
}
