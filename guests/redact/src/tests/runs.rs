//! Tools that the agent runs itself, as its hooks report them.

use acp_chain_proxy::acp::{AFTER_TOOL, BEFORE_TOOL};

use super::*;

/// What leaves after a report about a tool of this kind.
fn report(host: &mut Host, method: &str, kind: &str, more: Value) -> SentMessage {
    let mut params = json!({
        "sessionId": "s",
        "toolCall": { "title": "Tool", "kind": kind, "locations": [], "rawInput": {} },
        "canChange": true,
    });
    for (name, value) in more.as_object().expect("members") {
        params[name] = value.clone();
    }
    host.request(Peer::Agent, method, params);
    host.sent().pop().expect("a decision")
}

fn refusal(sent: SentMessage) -> String {
    assert_eq!((sent.to, sent.what), (Peer::Agent, SentKind::Response));
    sent.body.expect_err("a refusal").message
}

#[test]
fn results_lose_their_secrets_before_the_model_reads_them() {
    for texts in [1, 40] {
        let mut host = host();
        let output: Vec<_> = (0..texts).map(|n| format!("{n} KEY={SECRET}")).collect();
        let sent = report(
            &mut host,
            AFTER_TOOL,
            "read",
            json!({ "output": output, "cwd": "/proj" }),
        );
        let changed: Vec<_> = (0..texts).map(|n| format!("{n} KEY={MARKER}")).collect();
        assert_eq!(sent.at("/output"), json!(changed));
        assert_eq!(sent.at("/cwd"), "/proj");
    }
}

#[test]
fn a_result_with_a_secret_that_cannot_be_taken_out_is_withheld() {
    let mut host = host();
    let unchanging = |text: &str| json!({ "output": ["fine", text], "canChange": false });
    let sent = report(&mut host, AFTER_TOOL, "execute", unchanging(SECRET));
    let why = refusal(sent);
    assert!(why.contains("acme") && !why.contains(SECRET), "{why}");
    let sent = report(&mut host, AFTER_TOOL, "execute", unchanging("fine"));
    assert_eq!(sent.what, SentKind::Request);
}

#[test]
fn a_marker_of_a_secret_is_not_written_and_no_secret_is_put_back() {
    let mut host = host();
    let writes = |text: &str| {
        json!({ "toolCall": {
            "title": "Write", "kind": "edit", "rawInput": { "content": text },
        } })
    };
    // Nothing has been withheld yet, so this is the user's own text.
    let sent = report(&mut host, BEFORE_TOOL, "edit", writes(MARKER));
    assert_eq!(sent.at("/toolCall/rawInput/content"), MARKER);
    report(&mut host, AFTER_TOOL, "read", json!({ "output": [SECRET] }));
    let why = refusal(report(&mut host, BEFORE_TOOL, "edit", writes(MARKER)));
    assert!(why.contains(MARKER) && !why.contains(SECRET), "{why}");
    for text in ["other", "[redacted: other]"] {
        let sent = report(&mut host, BEFORE_TOOL, "edit", writes(text));
        assert_eq!(sent.at("/toolCall/rawInput/content"), text);
    }
}

#[test]
fn without_reads_no_result_is_changed() {
    let mut host = host_with(json!({ "reads": false }));
    let sent = report(&mut host, AFTER_TOOL, "read", json!({ "output": [SECRET] }));
    assert_eq!(sent.at("/output/0"), SECRET);
}

#[test]
fn in_version_2_the_user_is_told_by_a_notice() {
    let mut host = host();
    let version = json!({ "protocolVersion": 2 });
    let id = host.request(Peer::Client, "initialize", &version);
    host.answer(id, &version);
    host.restart().expect("restores the saved state");
    report(&mut host, AFTER_TOOL, "read", json!({ "output": [SECRET] }));
    host.sent();
    let run = json!({
        "sessionId": "s",
        "toolCall": { "title": "Write", "kind": "edit", "rawInput": { "content": MARKER } },
        "canChange": true,
    });
    host.request(Peer::Agent, BEFORE_TOOL, run);
    assert_eq!(host.sent()[0].at("/update/sessionUpdate"), "notice");
}
