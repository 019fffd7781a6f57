//! The parameters of requests, in both versions.

use super::*;

fn v2(title: &str, subject: &Value) -> Value {
    json!({ "sessionId": "s", "title": title, "subject": subject, "options": options(ALL) })
}

#[test]
fn requests_of_version_2_are_decided() {
    let mut host = host(json!([
        { "decision": "deny", "title": ["Elevate*", "rm *"] },
        { "decision": "deny", "path": "/prod/**" },
        { "decision": "allow", "kind": "read" },
        { "decision": "allow", "kind": "execute", "title": "cargo *" },
        { "decision": "allow", "title": "Go on?" },
    ]));
    let call =
        |id: &str| json!({ "type": "tool_call", "toolCall": { "toolCallId": id, "kind": "read" } });
    let command =
        |command: &str, cwd: &str| json!({ "type": "command", "command": command, "cwd": cwd });
    for (title, subject, expected) in [
        ("May I?", call("t"), "allow_once"),
        ("Elevate?", call("t"), "reject_once"),
        ("Elevate?", Value::Null, "reject_once"),
        ("Go on?", Value::Null, "allow_once"),
        ("Go on?", json!({ "type": "new" }), "ask"),
        ("Elevate?", json!({ "type": "new" }), "reject_once"),
        ("Go on?", json!("x"), "ask"),
        ("May I?", command("cargo test", "/proj"), "allow_once"),
        ("Go on?", command("cargo test", "/prod/x"), "reject_once"),
        ("Go on?", command("make", "/proj"), "ask"),
        ("Go on?", command("rm -rf x", "/proj"), "reject_once"),
        (
            "Go on?",
            json!({ "type": "command", "cwd": "/proj" }),
            "ask",
        ),
        ("Go on?", json!({ "type": "tool_call" }), "ask"),
        (
            "Go on?",
            json!({ "type": "command", "toolCall": { "toolCallId": "t", "kind": "read" } }),
            "ask",
        ),
    ] {
        assert_eq!(
            choose(&mut host, v2(title, &subject)),
            expected,
            "{title} {subject}"
        );
    }
}

#[test]
fn earlier_updates_of_the_call_of_a_command_count() {
    let mut host = host(json!([{ "decision": "allow", "title": ["cargo test", "Tests"] }]));
    let command =
        json!({ "type": "command", "command": "cargo test", "cwd": "/proj", "toolCallId": "t" });
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Tests" }),
    );
    assert_eq!(choose(&mut host, v2("", &command)), "allow_once");
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Deploy" }),
    );
    assert_eq!(choose(&mut host, v2("", &command)), "ask");
}

#[test]
fn an_unclear_request_is_never_allowed_and_denied_by_its_clear_parts() {
    let rules = json!([{ "decision": "deny", "kind": "delete" }, { "decision": "allow" }]);
    let read = r#"{ "toolCallId": "t", "kind": "read" }"#;
    let delete = r#"{ "toolCallId": "u", "kind": "delete" }"#;
    let subject = |call: &str| format!(r#"{{ "type": "tool_call", "toolCall": {call} }}"#);
    for (params, expected) in [
        (
            format!(r#""sessionId": "s", "toolCall": {read}"#),
            "allow_once",
        ),
        (format!(r#""toolCall": {read}"#), "ask"),
        (format!(r#""toolCall": {delete}"#), "reject_once"),
        (format!(r#""sessionId": 7, "toolCall": {read}"#), "ask"),
        (
            format!(r#""sessionId": "o", "sessionId": "s", "toolCall": {read}"#),
            "ask",
        ),
        (
            format!(r#""sessionId": "s", "sessionid": "o", "toolCall": {read}"#),
            "ask",
        ),
        (
            format!(r#""sessionId": "s", "toolCall": {read}, "toolCall": {read}"#),
            "ask",
        ),
        (
            format!(r#""sessionId": "s", "toolCall": {delete}, "toolCall": {read}"#),
            "reject_once",
        ),
        (
            format!(r#""sessionId": "s", "toolCall": {read}, "tool\u0043all": {delete}"#),
            "reject_once",
        ),
        (
            format!(r#""sessionId": "s", "toolCall": {read}, "toolcall": {delete}"#),
            "reject_once",
        ),
        (
            format!(
                r#""sessionId": "s", "toolCall": {read}, "subject": {}"#,
                subject(delete)
            ),
            "reject_once",
        ),
        (
            format!(
                r#""sessionId": "s", "toolCall": {read}, "subject": {}"#,
                subject(read)
            ),
            "ask",
        ),
        (
            format!(r#""sessionId": "s", "toolCall": {read}, "subject": null"#),
            "allow_once",
        ),
        (
            r#""sessionId": "s", "toolCall": { "kind": "read" }"#.into(),
            "ask",
        ),
        (
            r#""sessionId": "s", "toolCall": { "toolCallId": 7, "kind": "read" }"#.into(),
            "ask",
        ),
        (
            r#""sessionId": "s", "toolCall": { "kind": "delete" }"#.into(),
            "reject_once",
        ),
        (r#""sessionId": "s", "toolCall": "t""#.into(), "ask"),
        (r#""sessionId": "s", "toolCall": null"#.into(), "ask"),
        (r#""sessionId": "s""#.into(), "ask"),
    ] {
        let options = options(ALL);
        let params = raw(&format!(r#"{{ {params}, "options": {options} }}"#));
        assert_eq!(
            choose(&mut host(rules.clone()), &params),
            expected,
            "{params}"
        );
    }
    for params in [Value::Null, json!([]), json!("x")] {
        assert_eq!(choose(&mut host(rules.clone()), params), "ask");
    }
}

#[test]
fn in_an_unknown_session_nothing_is_allowed_by_its_directory() {
    let rules = json!([{ "decision": "allow", "path": ["./**", "/proj/src/**"] }]);
    for (path, expected) in [("/proj/a", "ask"), ("/proj/src/a", "allow_once")] {
        let params = json!({ "sessionId": "other", "toolCall": call("edit", "", &[path]), "options": options(ALL) });
        assert_eq!(choose(&mut host(rules.clone()), params), expected, "{path}");
    }
}
