//! Reports of a rule's decision to the user and the agent.

use acp_chain_proxy::testing::SentMessage;

use super::*;

const RULES: &str = r#"[
    { "decision": "allow", "kind": "read" },
    { "decision": "deny", "kind": "execute" }
]"#;

fn ruled() -> Host {
    host(serde_json::from_str(RULES).expect("rules"))
}

/// All messages caused by a request.
fn request(host: &mut Host, params: Value) -> Vec<SentMessage> {
    host.request(Peer::Agent, "session/request_permission", params);
    host.sent()
}

fn v1(call: Value) -> Value {
    json!({ "sessionId": "s", "toolCall": call, "options": options(ALL) })
}

fn words(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

const ALLOWED: &str = "Allowed by rule 1 of the proxy `proxy`, without asking you.";
const DENIED: &str = "Denied by rule 2 of the proxy `proxy`, without asking you.";

#[test]
fn a_call_that_the_client_has_not_seen_is_shown_with_its_outcome() {
    let mut host = ruled();
    let diff = json!({ "type": "diff", "path": "/proj/a", "newText": "x" });
    for (kind, content, status, expected) in [
        ("read", json!([]), "in_progress", json!([words(ALLOWED)])),
        ("execute", Value::Null, "failed", json!([words(DENIED)])),
    ] {
        let id = format!("call of {kind}");
        let call = json!({
            "toolCallId": id, "kind": kind, "title": "Do it", "status": "pending",
            "content": content, "rawInput": { "n": 1 },
        });
        let sent = request(&mut host, v1(call));
        assert_eq!((sent.len(), sent[0].to), (2, Peer::Client));
        let shown = json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "kind": kind, "title": "Do it",
            "status": status, "content": expected, "rawInput": { "n": 1 },
        });
        assert_eq!(sent[0].at("/update"), shown);
        assert_eq!(sent[0].at("/sessionId"), "s");
        assert_eq!(sent[1].to, Peer::Agent);
    }
    let call = json!({ "toolCallId": "edit", "kind": "read", "content": [diff] });
    let sent = request(&mut ruled_for_edits(), v1(call));
    assert_eq!(sent[0].at("/update/content/0"), diff);
    assert_eq!(sent[0].at("/update/title"), "Tool call");
}

/// Agents write "the user refused" into the call.
#[test]
fn a_denial_is_repeated_when_the_agent_replaces_it() {
    for is_announced in [false, true] {
        let mut host = ruled();
        if is_announced {
            update(
                &mut host,
                call_update("tool_call", "t", &json!({ "kind": "execute" })),
            );
        }
        let call = json!({ "toolCallId": "t", "kind": "execute", "title": "rm -r x" });
        request(&mut host, v1(call));
        // Its status alone replaces nothing.
        let status = call_update("tool_call_update", "t", &json!({ "status": "failed" }));
        update(&mut host, status);
        let refused = json!({ "content": [words("User refused permission to run the tool")] });
        let refused = call_update("tool_call_update", "t", &refused);
        let notice = |host: &mut Host| {
            host.notify(
                Peer::Agent,
                "session/update",
                json!({ "sessionId": "s", "update": &refused }),
            );
            host.sent()
        };
        let sent = notice(&mut host);
        assert_eq!(sent.len(), 2, "{sent:?}");
        let text: String = sent[0].get("/update/content/text").expect("a message");
        assert!(text.contains(r#"rule 2 denied "rm -r x""#), "{text}");
        assert_eq!(sent[1].at("/update/sessionUpdate"), "tool_call_update");
        assert_eq!(notice(&mut host).len(), 1, "once");
    }
}

fn ruled_for_edits() -> Host {
    host(json!([{ "decision": "allow", "kind": ["read", "edit"] }]))
}

#[test]
fn a_call_that_the_client_has_seen_is_not_announced_again() {
    let mut host = ruled();
    update(
        &mut host,
        call_update(
            "tool_call",
            "t",
            &json!({ "kind": "execute", "title": "rm" }),
        ),
    );
    let sent = request(&mut host, v1(json!({ "toolCallId": "t" })));
    assert_eq!(sent[0].at("/update/sessionUpdate"), "tool_call_update");
    assert_eq!(sent[0].at("/update/status"), "failed");
    assert_eq!(sent[0].at("/update/content"), json!([words(DENIED)]));
    // A call that this proxy has shown is not announced again either.
    request(
        &mut host,
        v1(json!({ "toolCallId": "u", "kind": "execute" })),
    );
    let sent = request(
        &mut host,
        v1(json!({ "toolCallId": "u", "kind": "execute" })),
    );
    assert_eq!(sent[0].at("/update/sessionUpdate"), "tool_call_update");
}

/// A host with the rules, after an update that gives the call `t` content.
fn with_content() -> Host {
    let mut host = ruled();
    let content = json!([{ "type": "content", "content": { "type": "text", "text": "rm -rf x" } }]);
    let more = json!({ "kind": "execute", "title": "rm", "content": content });
    update(&mut host, call_update("tool_call", "t", &more));
    host
}

#[test]
fn existing_content_of_a_call_stays() {
    let mut host = with_content();
    let sent = request(&mut host, v1(json!({ "toolCallId": "t" })));
    assert_eq!(sent[0].at("/update/content"), Value::Null);
    assert_eq!(sent[0].at("/update/status"), "failed");
    let notice: String = sent[1].get("/update/content/text").expect("a message");
    assert!(notice.contains(r#"rule 2 denied "rm""#), "{notice}");
}

#[test]
fn possible_content_of_an_evicted_call_stays() {
    let mut host = with_content();
    open(&mut host, "/proj");
    let sent = request(
        &mut host,
        v1(json!({ "toolCallId": "t", "kind": "execute" })),
    );
    assert_eq!(sent[0].at("/update/sessionUpdate"), "tool_call_update");
    assert_eq!(sent[0].at("/update/content"), Value::Null);
    assert_eq!(sent[1].at("/update/sessionUpdate"), "agent_message_chunk");
}

#[test]
fn the_answer_names_the_rule_for_the_agent() {
    let mut host = ruled();
    let sent = request(
        &mut host,
        v1(json!({ "toolCallId": "t", "kind": "execute" })),
    );
    let answer = sent.last().expect("the answer");
    let notice = json!({
        "decision": "deny",
        "rule": 2,
        "message": "Denied by rule 2 of the user's settings (the proxy `proxy`); the user was not asked",
    });
    assert_eq!(answer.at("/_meta/acp-chain~1proxy"), notice);
}

#[test]
fn a_turn_that_ends_because_of_a_denial_is_explained() {
    for (cancelled_by_user, reason, explained) in [
        (false, "cancelled", true),
        (true, "cancelled", false),
        (false, "end_turn", false),
    ] {
        let mut host = ruled();
        let id = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
        let call = json!({ "toolCallId": "t", "kind": "execute", "title": "rm -rf x" });
        request(&mut host, v1(call));
        if cancelled_by_user {
            host.notify(Peer::Client, "session/cancel", json!({ "sessionId": "s" }));
        }
        host.sent();
        host.answer(id, json!({ "stopReason": reason }));
        let sent = host.sent();
        assert_eq!(sent.len(), 1 + usize::from(explained), "{reason}");
        if explained {
            let notice: String = sent[0].get("/update/content/text").expect("a message");
            assert!(notice.contains(r#"rule 2 denied "rm -rf x""#), "{notice}");
            assert_eq!(sent[1].what, SentKind::Response);
        }
    }
}

#[test]
fn in_version_2_a_call_is_shown_and_a_turn_explained_in_its_forms() {
    let mut host = ruled();
    let request_of = |subject: Value| json!({ "sessionId": "s", "title": "May I?", "subject": subject, "options": options(ALL) });
    let command = json!({
        "type": "command", "command": "rm", "cwd": "/proj", "toolCallId": "c",
    });
    let sent = request(&mut host, request_of(command));
    assert_eq!(
        sent[0].at("/update"),
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "rm",
            "kind": "execute", "status": "failed", "content": [words(DENIED)],
        })
    );
    // Content that is already shown can be extended here.
    let content = json!([{ "type": "content", "content": { "type": "text", "text": "rm" } }]);
    let more = json!({ "kind": "execute", "content": content });
    update(&mut host, call_update("tool_call_update", "t", &more));
    let call = json!({ "type": "tool_call", "toolCall": { "toolCallId": "t" } });
    let sent = request(&mut host, request_of(call));
    assert_eq!(sent[0].at("/update/content"), Value::Null);
    assert_eq!(
        sent[1].at("/update"),
        json!({
            "sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": words(DENIED),
        })
    );
    let idle =
        json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled" });
    let params = json!({ "sessionId": "s", "update": idle });
    host.notify(Peer::Agent, "session/update", params);
    let sent = host.sent();
    assert_eq!(sent[0].at("/update/sessionUpdate"), "notice");
    assert_eq!(sent[1].at("/update/state"), "idle");
}

#[test]
fn the_denial_of_a_command_without_a_call_is_reported() {
    let mut host = ruled();
    let subject = json!({ "type": "command", "command": "rm", "cwd": "/proj" });
    let params =
        json!({ "sessionId": "s", "title": "May I?", "subject": subject, "options": options(ALL) });
    let sent = request(&mut host, params);
    assert_eq!(sent[0].at("/update/sessionUpdate"), "notice");
    assert_eq!(sent[0].at("/update/title"), r#"proxy: rule 2 denied "rm""#);
    assert_eq!((sent.len(), sent[1].to), (2, Peer::Agent));
}

#[test]
fn a_request_that_the_user_decides_shows_nothing() {
    let mut host = ruled();
    let sent = request(&mut host, v1(json!({ "toolCallId": "t", "kind": "edit" })));
    assert_eq!((sent.len(), sent[0].what), (1, SentKind::Request));
}

#[test]
fn without_the_powers_to_report_the_decision_stands() {
    let mut host = ruled();
    let able = LEAST.iter().filter(|power| !power.contains(".send"));
    host.powers(&able.copied().collect::<Vec<_>>());
    let sent = request(&mut host, v1(json!({ "toolCallId": "t", "kind": "read" })));
    assert_eq!((sent.len(), sent[0].what), (1, SentKind::Response));
}
