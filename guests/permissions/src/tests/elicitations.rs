//! Approvals that come as elicitations, and consents to open a page.

use super::*;

/// The action that was chosen, or `ask`.
fn elicit(rules: &Value, more: &Value) -> String {
    let mut host = host(rules.clone());
    let mut params = json!({ "sessionId": "s", "mode": "form", "message": "Allow the probe MCP server to run tool \"echo\"?" });
    for (name, value) in more.as_object().expect("members") {
        params[name] = value.clone();
    }
    host.request(Peer::Agent, "elicitation/create", params);
    let sent = host.sent().pop().expect("the request or its answer");
    if sent.what == SentKind::Request {
        "ask".into()
    } else {
        sent.get("/action").expect("an action")
    }
}

#[test]
fn an_approval_that_comes_as_an_elicitation_is_judged_as_one() {
    let approval = json!({
        "_meta": { "codex_approval_kind": "mcp_tool_call", "tool_params": { "file": ".env" } },
        "requestedSchema": { "type": "object", "properties": {} },
    });
    let rule = |decision: &str| json!([{ "decision": decision, "title": "Allow the probe *" }]);
    assert_eq!(elicit(&rule("deny"), &approval), "decline");
    assert_eq!(elicit(&rule("ask"), &approval), "ask");
    assert_eq!(
        elicit(&json!([{ "decision": "deny" }]), &approval),
        "decline"
    );
    assert_eq!(
        elicit(
            &json!([{ "decision": "deny", "path": "**/.env" }]),
            &approval
        ),
        "decline"
    );
    assert_eq!(
        elicit(
            &json!([{ "decision": "deny", "kind": "execute" }]),
            &approval
        ),
        "decline"
    );
    assert_eq!(
        elicit(&json!([{ "decision": "deny", "kind": "other" }]), &approval),
        "decline"
    );
    assert_eq!(
        elicit(
            &json!([{ "decision": "allow", "kind": "execute" }]),
            &approval
        ),
        "ask"
    );
    let both = json!([{ "decision": "allow", "kind": ["execute", "other"], "title": "Allow the probe MCP server to run tool \"echo?\"?" }]);
    assert_eq!(elicit(&both, &approval), "ask", "letter by letter");
    let both = json!([{ "decision": "allow", "kind": ["execute", "other"] }]);
    assert_eq!(elicit(&both, &approval), "accept");
    let mut form = approval;
    form["requestedSchema"]["properties"]["name"] = json!({ "type": "string" });
    assert_eq!(
        elicit(&both, &form),
        "ask",
        "the user has to fill in the form"
    );
}

/// Only the input of a tool of an MCP server is known to be no command.
#[test]
fn the_input_of_another_approval_may_be_a_command() {
    let approval = |kind: &str, params: &Value| {
        json!({
            "_meta": { "codex_approval_kind": kind, "tool_params": params },
            "requestedSchema": { "type": "object", "properties": {} },
        })
    };
    let kinds = json!(["execute", "other"]);
    let denies = json!([
        { "decision": "deny", "command": "rm *" },
        { "decision": "allow", "kind": kinds },
    ]);
    let titled = json!([{ "decision": "allow", "kind": kinds, "title": "Allow the probe *" }]);
    let lines = json!({ "text": "cd a\nrm x" });
    for (rules, kind, params, expected) in [
        (&denies, "mcp_tool_call", &lines, "accept"),
        (&denies, "exec", &lines, "ask"),
        (&denies, "mcp_tool_call", &json!({ "text": "rm x" }), "ask"),
        (&denies, "exec", &json!({ "text": "ls" }), "accept"),
        (&titled, "mcp_tool_call", &lines, "accept"),
        (&titled, "exec", &lines, "ask"),
        (&titled, "exec", &json!({ "text": "ls" }), "ask"),
    ] {
        assert_eq!(
            elicit(rules, &approval(kind, params)),
            expected,
            "{rules} {kind} {params}"
        );
    }
    // A call that another update has declared to be of two kinds is no approval of that kind.
    let mut host = host(titled);
    let call =
        json!({ "toolCallId": "t", "title": "Allow the probe x", "rawInput": { "code": "rm x" } });
    update(
        &mut host,
        call_update("tool_call", "t", &json!({ "kind": "execute" })),
    );
    update(
        &mut host,
        call_update("tool_call_update", "t", &json!({ "kind": "other" })),
    );
    assert_eq!(ask(&mut host, call), "ask");
}

#[test]
fn other_questions_go_to_the_user() {
    let deny = json!([{ "decision": "deny" }]);
    let schema = json!({ "type": "object", "properties": { "branch": { "type": "string" } } });
    assert_eq!(
        elicit(
            &deny,
            &json!({ "message": "Which branch?", "requestedSchema": schema })
        ),
        "ask"
    );
    assert_eq!(elicit(&deny, &json!({ "_meta": null })), "ask");
}

#[test]
fn a_consent_to_open_a_page_reaches_the_user_unless_a_rule_has_its_title() {
    let page = json!({ "mode": "url", "url": "https://x.example/login", "elicitationId": "e", "message": "Please log in" });
    let call = json!({
        "toolCallId": "elicitation-e", "kind": "fetch", "status": "pending", "title": "MCP server requests to open a URL",
        "rawInput": { "serverName": "probe", "description": "Please log in", "url": "https://x.example/login" },
    });
    let decide = |rules: &Value| {
        let mut host = host(rules.clone());
        let asked = ask(&mut host, call.clone());
        (elicit(rules, &page), asked)
    };
    for rules in [
        json!([{ "decision": "allow", "kind": "fetch" }]),
        json!([{ "decision": "allow" }]),
        json!([{ "decision": "deny" }]),
        json!([{ "decision": "deny", "kind": "fetch" }]),
    ] {
        assert_eq!(decide(&rules), ("ask".into(), "ask".into()), "{rules}");
    }
    let named = |decision: &str| json!([{ "decision": decision, "title": ["Please log in", "MCP server requests *"] }]);
    assert_eq!(
        decide(&named("allow")),
        ("accept".into(), "allow_once".into())
    );
    assert_eq!(
        decide(&named("deny")),
        ("decline".into(), "reject_once".into())
    );
    // A page that an agent reads is none.
    let mut host = host(json!([{ "decision": "allow", "kind": "fetch" }]));
    let fetch = json!({ "toolCallId": "f", "kind": "fetch", "title": "Fetch https://x.example/login", "rawInput": { "url": "https://x.example/login" } });
    assert_eq!(ask(&mut host, fetch), "allow_once");
}
