//! Tools that are about to run, as the agent's hooks report them.

use acp_chain_proxy::acp::{BEFORE_TOOL, PERMISSION};
use acp_chain_proxy::testing::SentMessage;

use super::*;

const RULES: &str = r#"[
    { "decision": "deny", "command": "rm *" },
    { "decision": "ask", "path": "**/.env" },
    { "decision": "ask", "command": "make *" },
    { "decision": "allow", "kind": "read" }
]"#;

fn ruled() -> Host {
    host(serde_json::from_str(RULES).expect("rules"))
}

fn shell(id: Option<&str>, command: &str) -> Value {
    let mut call = json!({
        "title": "Bash", "kind": "execute", "status": "pending", "locations": [],
        "rawInput": { "command": command },
    });
    if let Some(id) = id {
        call["toolCallId"] = id.into();
    }
    call
}

/// All messages caused by the report of a run.
fn run(host: &mut Host, call: &Value) -> Vec<SentMessage> {
    let params = json!({ "sessionId": "s", "toolCall": call, "canChange": true });
    host.request(Peer::Agent, BEFORE_TOOL, params);
    host.sent()
}

/// The report of a run that passed at once.
fn passes(host: &mut Host, call: &Value) -> bool {
    let sent = run(host, call);
    matches!(&sent[..], [only] if only.method == BEFORE_TOOL && only.what == SentKind::Request)
}

/// The question that a run caused.
fn question(host: &mut Host, call: &Value) -> SentMessage {
    let sent = run(host, call);
    let [asked] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!((asked.to, &*asked.method), (Peer::Client, PERMISSION));
    asked.clone()
}

#[test]
fn a_patch_that_deletes_or_moves_is_of_these_kinds_too() {
    let rules = json!([{ "decision": "deny", "kind": ["delete", "move"] }]);
    for (patch, expected) in [
        (
            "*** Begin Patch\n*** Update File: a\n+*** Delete File: b\n*** End Patch",
            true,
        ),
        ("*** Begin Patch\n*** Delete File: a\n*** End Patch", false),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch",
            false,
        ),
    ] {
        for input in [json!({ "patchText": patch }), json!(patch)] {
            let mut host = host(rules.clone());
            let call = json!({
                "title": "apply_patch", "kind": "edit", "status": "pending",
                "locations": [{ "path": "a" }], "rawInput": input,
            });
            assert_eq!(passes(&mut host, &call), expected, "{patch}");
        }
    }
}

/// Client and agent agree on version 2.
fn agree_on_version_2(host: &mut Host) {
    let version = json!({ "protocolVersion": 2 });
    let id = host.request(Peer::Client, "initialize", &version);
    host.answer(id, &version);
    host.sent();
}

fn choice(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// The reason of a refusal, if that is what has left last.
fn refusal(host: &mut Host) -> Option<String> {
    let last = host.sent().pop()?;
    last.body.err().map(|error| error.message)
}

#[test]
fn what_a_rule_denies_does_not_run_and_both_sides_learn_which() {
    let mut host = ruled();
    let sent = run(&mut host, &shell(Some("c"), "rm -rf x"));
    let [told, refused] = &sent[..] else {
        panic!("{sent:?}");
    };
    let text: String = told.get("/update/content/text").expect("a text");
    assert!(text.contains(r#"rule 1 denied "rm -rf x""#), "{text}");
    let reason = refused.body.clone().unwrap_err().message;
    assert!(reason.starts_with("Denied by rule 1"), "{reason}");
    assert_eq!((refused.to, &*refused.method), (Peer::Agent, BEFORE_TOOL));
}

#[test]
fn what_no_rule_is_about_and_what_one_allows_passes() {
    let mut host = ruled();
    assert!(passes(&mut host, &shell(None, "ls")));
    assert!(passes(&mut host, &call("read", "Read", &["/proj/a"])));
    assert!(passes(&mut host, &call("other", "Unknown", &[])));
}

/// A tool of which nothing says the kind may be of the one that a rule denies; of one of a server, that is never known.
#[test]
fn a_tool_that_is_not_known_may_be_of_any_kind() {
    let rules = json!([
        { "decision": "deny", "kind": "execute", "command": "rm *" },
        { "decision": "deny", "kind": "edit", "path": "**/.env" },
        { "decision": "allow", "kind": "read" },
    ]);
    let unknown = |input: Value| {
        let mut call = call("other", "Unknown", &[]);
        call["rawInput"] = input;
        call
    };
    for input in [
        json!({ "command": "rm x" }),
        json!({ "path": "/proj/.env" }),
    ] {
        question(&mut host(rules.clone()), &unknown(input.clone()));
        let mut host = host(rules.clone());
        let call = unknown(input);
        let params =
            json!({ "sessionId": "s", "toolCall": call, "server": "s", "canChange": true });
        host.request(Peer::Agent, BEFORE_TOOL, params);
        let sent = host.sent();
        assert!(
            matches!(&sent[..], [only] if only.what == SentKind::Request && only.method == BEFORE_TOOL),
            "{sent:?}"
        );
    }
    for harmless in [json!({ "command": "ls" }), json!({ "path": "/proj/a" })] {
        assert!(passes(&mut host(rules.clone()), &unknown(harmless)));
    }
    assert!(passes(
        &mut host(rules.clone()),
        &call("read", "Read", &["/proj/.env"])
    ));
    // One that allows never matches.
    let allowing = json!([{ "decision": "allow", "kind": "read" }, { "decision": "ask" }]);
    question(&mut host(allowing), &unknown(json!({ "path": "/proj/a" })));
}

#[test]
fn the_user_is_asked_where_a_rule_says_so_or_may_match() {
    for (call, title) in [
        (shell(Some("c"), "make all"), r#""Bash": "make all""#),
        (shell(None, "rm $(x"), r#""Bash": "rm $(x""#),
        (
            call("read", "Read", &["/proj/.env"]),
            r#""Read": "/proj/.env""#,
        ),
    ] {
        for (option, passes) in [("allow", true), ("reject", false), ("other", false)] {
            let mut host = ruled();
            let asked = question(&mut host, &call);
            assert_eq!(asked.at("/toolCall/title"), title);
            assert!(asked.get::<String>("/toolCall/toolCallId").is_some());
            host.answer(asked.id, choice(option));
            let sent = host.sent().pop().expect("a decision");
            assert_eq!(sent.what == SentKind::Request, passes, "{call} {option}");
        }
    }
}

#[test]
fn what_the_user_does_not_allow_or_cannot_be_asked_is_refused() {
    for answer in [
        Ok(json!({ "outcome": { "outcome": "cancelled" } })),
        // Of a kind that is not known, as version 2 has them.
        Ok(json!({ "outcome": { "outcome": "_later", "optionId": "allow" } })),
        Err(acp_chain_proxy::Error::new(-32601, "no such method")),
    ] {
        let mut host = ruled();
        let asked = question(&mut host, &shell(Some("c"), "make all"));
        match answer {
            Ok(answer) => host.answer(asked.id, answer),
            Err(error) => host.fail(asked.id, error),
        }
        let reason = refusal(&mut host).expect("a refusal");
        assert!(reason.contains("the user"), "{reason}");
    }
}

#[test]
fn a_question_is_withdrawn_with_its_run() {
    let mut host = ruled();
    let asked = question(&mut host, &shell(Some("c"), "make all"));
    let run = host.held()[0];
    host.cancel(run);
    let sent = host.sent();
    let withdrawn = |sent: &SentMessage| sent.what == SentKind::Cancel && sent.id == asked.id;
    assert!(sent.iter().any(withdrawn), "{sent:?}");
    let last = sent.last().expect("an answer");
    assert!(last.what == SentKind::Response && last.body.is_err());
}

#[test]
fn the_agents_own_question_about_an_allowed_run_is_answered_once() {
    for id in [Some("c"), None] {
        let mut host = ruled();
        let asked = question(&mut host, &shell(id, "make all"));
        host.answer(asked.id, choice("allow"));
        host.sent();
        let mut own = shell(Some("c"), "make all");
        own["title"] = "make all".into();
        assert_eq!(ask(&mut host, own.clone()), "allow_once");
        assert_eq!(ask(&mut host, own), "ask");
    }
}

#[test]
fn an_allowed_run_answers_no_question_about_another_or_in_another_turn() {
    for (id, other) in [
        (Some("c"), shell(Some("d"), "make all")),
        (None, shell(Some("c"), "make other")),
    ] {
        let mut host = ruled();
        let asked = question(&mut host, &shell(id, "make all"));
        host.answer(asked.id, choice("allow"));
        host.sent();
        assert_eq!(ask(&mut host, other), "ask");
    }
    let mut host = ruled();
    let prompt = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
    host.sent();
    let asked = question(&mut host, &shell(None, "make all"));
    host.answer(asked.id, choice("allow"));
    host.answer(prompt, json!({ "stopReason": "end_turn" }));
    host.sent();
    assert_eq!(ask(&mut host, shell(Some("c"), "make all")), "ask");
}

#[test]
fn an_allowed_run_of_a_tool_of_a_server_answers_no_question_about_another_tool() {
    let call = |id: Option<&str>, title: &str| {
        let mut call = shell(id, "");
        call["title"] = title.into();
        call["kind"] = "other".into();
        call["rawInput"] = json!({ "path": "/proj/.env" });
        call
    };
    for (id, expected) in [(Some("c"), "allow_once"), (None, "ask")] {
        let mut host = ruled();
        let asked = question(&mut host, &call(id, "mcp__a__show"));
        host.answer(asked.id, choice("allow"));
        host.sent();
        let own = call(Some("c"), "mcp__a__delete");
        assert_eq!(ask(&mut host, own), expected);
    }
}

#[test]
fn earlier_updates_of_the_call_count() {
    let mut host = ruled();
    let more = json!({ "locations": [{ "path": "/proj/.env" }] });
    update(&mut host, call_update("tool_call", "t", &more));
    question(&mut host, &call("read", "Read", &["/proj/a"]));
}

#[test]
fn in_version_2_a_question_has_its_form() {
    let mut host = ruled();
    agree_on_version_2(&mut host);
    let call = shell(Some("c"), "make all");
    let asked = question(&mut host, &call);
    let subject = json!({
        "type": "tool_call",
        "toolCall": {
            "toolCallId": "c", "title": "Bash", "kind": "execute", "locations": [],
            "rawInput": { "command": "make all" },
        },
    });
    let expected = json!({
        "sessionId": "s",
        "title": r#""Bash": "make all""#,
        "subject": subject,
        "options": [
            { "optionId": "allow", "name": "Allow", "kind": "allow_once" },
            { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
        ],
    });
    assert_eq!(asked.at(""), expected);
    host.answer(asked.id, choice("allow"));
    let sent = host.sent().pop().expect("a decision");
    assert_eq!(sent.what, SentKind::Request);
    // The agent's own question has a text of its own.
    let own = json!({
        "sessionId": "s", "title": "Run it outside of the sandbox?", "subject": subject,
        "options": options(ALL),
    });
    assert_eq!(choose(&mut host, own), "ask");
}

#[test]
fn in_version_2_a_question_changes_only_the_input_of_a_call_that_the_client_has() {
    let mut host = ruled();
    agree_on_version_2(&mut host);
    let more = json!({ "title": "make all", "kind": "execute", "status": "in_progress" });
    update(&mut host, call_update("tool_call_update", "c", &more));
    let asked = question(&mut host, &shell(Some("c"), "make all"));
    let expected = json!({ "toolCallId": "c", "rawInput": { "command": "make all" } });
    assert_eq!(asked.at("/subject/toolCall"), expected);
}

#[test]
fn in_version_2_a_refusal_is_a_notice() {
    let mut host = ruled();
    agree_on_version_2(&mut host);
    let sent = run(&mut host, &shell(Some("c"), "rm -rf x"));
    assert_eq!(sent[0].at("/update/sessionUpdate"), "notice");
}

#[test]
fn a_new_instance_knows_the_version() {
    let mut host = ruled();
    agree_on_version_2(&mut host);
    host.restart().expect("restores the saved state");
    host.sent();
    let asked = question(&mut host, &shell(None, "make all"));
    assert_eq!(asked.at("/subject/type"), "tool_call");
}
