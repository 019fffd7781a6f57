//! Files that the agent reads and writes, and commands that it runs, through the client.

use super::*;

const RULES: &str = r#"[
    { "decision": "ask", "path": "**/.env" },
    { "decision": "deny", "kind": "edit", "path": "/etc/**" },
    { "decision": "deny", "path": "**/*.pem" },
    { "decision": "deny", "command": ["rm *", "git push *"] },
    { "decision": "ask", "command": "make *" }
]"#;

/// Whether the client gets a request of the agent.
fn passes(host: &mut Host, method: &str, more: &Value) -> bool {
    let mut params = json!({ "sessionId": "s" });
    for (name, value) in more.as_object().expect("members") {
        params[name] = value.clone();
    }
    host.request(Peer::Agent, method, params);
    let sent = host.sent();
    sent.iter().any(|sent| {
        sent.what == SentKind::Request && sent.to == Peer::Client && sent.method == method
    })
}

#[test]
fn what_a_rule_denies_is_not_done_by_the_client_either() {
    let create = "terminal/create";
    for (method, more, expected) in [
        ("fs/read_text_file", json!({ "path": "/proj/a" }), true),
        ("fs/read_text_file", json!({ "path": "/proj/a.pem" }), false),
        ("fs/read_text_file", json!({ "path": "/etc/a" }), true),
        (
            "fs/write_text_file",
            json!({ "path": "/etc/a", "content": "" }),
            false,
        ),
        (
            "fs/write_text_file",
            json!({ "path": "/proj/a", "content": "rm x, server.pem" }),
            true,
        ),
        (create, json!({ "command": "rm", "args": ["x"] }), false),
        (create, json!({ "command": "rm x" }), false),
        (
            create,
            json!({ "command": "bash", "args": ["-lc", "ls; git push"], "cwd": "/proj" }),
            false,
        ),
        (
            create,
            json!({ "command": "cat", "args": ["../a.pem"] }),
            false,
        ),
        (
            create,
            json!({ "command": "ls", "args": [], "env": [{ "name": "X", "value": "/a.pem" }] }),
            true,
        ),
        // The user was asked, if the agent asks at all.
        (create, json!({ "command": "make", "args": ["all"] }), true),
        ("fs/read_text_file", json!({ "path": "/proj/.env" }), true),
    ] {
        let mut host = host(serde_json::from_str(RULES).expect("rules"));
        assert_eq!(
            passes(&mut host, method, &more),
            expected,
            "{method} {more}"
        );
    }
}

#[test]
fn half_a_surrogate_pair_hides_nothing_from_a_rule() {
    for (method, members) in [
        ("fs/read_text_file", r#""path":"/proj/\ud800/a.pem""#),
        ("fs/write_text_file", r#""path":"/etc/\ud800","content":"""#),
        ("terminal/create", r#""command":"rm","args":["x","\ud800"]"#),
    ] {
        let mut host = host(serde_json::from_str(RULES).expect("rules"));
        host.request(
            Peer::Agent,
            method,
            raw(&format!(r#"{{"sessionId":"s",{members}}}"#)),
        );
        let sent = host.sent();
        let is_passed = sent.iter().any(|sent| sent.what == SentKind::Request);
        assert!(!is_passed, "{method}: {sent:?}");
    }
}

#[test]
fn the_user_and_the_agent_are_told_what_was_refused() {
    let mut host = host(serde_json::from_str(RULES).expect("rules"));
    let params = json!({ "sessionId": "s", "command": "rm", "args": ["x"] });
    host.request(Peer::Agent, "terminal/create", params);
    let sent = host.sent();
    let [told, refused] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(told.to, Peer::Client);
    assert_eq!(
        (refused.to, &refused.what),
        (Peer::Agent, &SentKind::Response)
    );
}
