//! The state of a new instance after the old one failed.

use super::*;

#[test]
fn a_new_instance_knows_the_directories_of_the_sessions() {
    let mut host = host(json!([
        { "decision": "deny", "path": "./secret/**" },
        { "decision": "allow", "kind": "read" },
    ]));
    let prompt = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
    host.restart().expect("restores the saved state");
    host.answer(prompt, json!({ "stopReason": "end_turn" }));
    host.sent();
    for (path, expected) in [("/proj/secret/a", "reject_once"), ("/proj/a", "allow_once")] {
        assert_eq!(ask(&mut host, call("read", "", &[path])), expected);
    }
}

#[test]
fn a_new_instance_allows_nothing_until_it_has_seen_the_end_of_a_turn() {
    let rules = json!([
        { "decision": "deny", "title": "*secret*" },
        { "decision": "allow", "kind": "read" },
    ]);
    for known in [false, true] {
        let mut host = host(rules.clone());
        let prompt = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
        // The old instance would deny this.
        update(
            &mut host,
            json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read a secret" }),
        );
        host.restart().expect("restores the saved state");
        if known {
            update(
                &mut host,
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "read" }),
            );
        }
        let bare = json!({ "toolCallId": "t", "kind": "read" });
        assert_eq!(ask(&mut host, bare), "ask");
        let denied = call("read", "Read a secret", &[]);
        assert_eq!(ask(&mut host, denied), "reject_once");

        host.answer(prompt, json!({ "stopReason": "end_turn" }));
        host.sent();
        let next = json!({ "toolCallId": "u", "kind": "read" });
        assert_eq!(ask(&mut host, next), "allow_once");
    }
}

#[test]
fn calls_are_not_saved() {
    let mut host = host(json!([{ "decision": "allow" }]));
    assert!(host.saved().is_some());
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "kind": "read" }),
    );
    assert_eq!(ask(&mut host, json!({ "toolCallId": "t" })), "allow_once");
    assert_eq!(host.saved(), None);
}

#[test]
fn a_new_instance_allows_nothing_even_if_the_old_one_saw_no_session() {
    let mut host =
        Host::start::<Permissions>(json!({ "rules": [{ "decision": "allow" }] })).expect("right");
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "kind": "execute" }),
    );
    host.restart().expect("restores the saved state");
    assert_eq!(ask(&mut host, call("read", "", &[])), "ask");
}
