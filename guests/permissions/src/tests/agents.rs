//! Requests as released agents send them. Their own texts are shortened; members and spellings are unchanged.

use super::*;

const COMMAND: &str = "cargo test --all; git status";

/// The updates before a request, and the tool call in it.
fn agents() -> Vec<(&'static str, Vec<Value>, Value)> {
    let input = json!({ "command": COMMAND, "description": "probe" });
    let here = json!({ "command": COMMAND, "cwd": "/proj" });
    let announced = |title: &str, input: Value| {
        call_update(
            "tool_call",
            "t",
            &json!({ "kind": "execute", "title": title, "rawInput": input }),
        )
    };
    let again = |title: &str, input: &Value| {
        call_update(
            "tool_call_update",
            "t",
            &json!({ "title": title, "rawInput": input }),
        )
    };
    let asked = |title: &str, input: &Value| json!({ "toolCallId": "t", "kind": "execute", "status": "pending", "title": title, "rawInput": input });
    let place = json!([{ "path": "/proj" }]);
    let cwd = json!({ "cwd": "/proj" });
    let mut opencode = vec![announced("bash", cwd), again(COMMAND, &here)];
    for update in &mut opencode {
        update["locations"] = place.clone();
    }
    let terminal = json!([{ "type": "terminal", "terminalId": "t" }]);
    let mut codex = announced(COMMAND, here.clone());
    codex["content"] = terminal;
    let text =
        |text: &str| json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    let mut gemini = json!({ "toolCallId": "t", "kind": "execute", "status": "pending", "title": COMMAND, "locations": [] });
    gemini["content"] = text("[current working directory /proj] (probe)");
    let mut old_codex = asked(
        COMMAND,
        &json!({
            "call_id": "t", "command": ["/bin/bash", "-lc", COMMAND], "cwd": "/proj",
            "proposed_execpolicy_amendment": ["cargo", "test", "--all"],
            "parsed_cmd": [{ "type": "unknown", "cmd": COMMAND }],
        }),
    );
    old_codex["content"] =
        text("Proposed Amendment: cargo\ntest\n--all\nAvailable Decisions: Approved");
    let lists = json!({ "commands": [COMMAND] });
    let quoted = |word: &str| format!("{word} `{COMMAND}`");
    vec![
        (
            "claude",
            vec![announced("Terminal", json!({})), again(COMMAND, &input)],
            asked(COMMAND, &input),
        ),
        ("codex 2", vec![codex], asked(COMMAND, &here)),
        ("codex 0.16", vec![], old_codex),
        ("gemini", vec![], gemini),
        (
            "opencode, kilo",
            opencode,
            asked(COMMAND, &json!({ "command": COMMAND })),
        ),
        (
            "qwen",
            vec![announced("Shell", json!({}))],
            asked(&format!("{COMMAND} (probe)"), &input),
        ),
        (
            "copilot",
            vec![announced("probe", input.clone())],
            asked(
                "probe",
                &json!({ "command": COMMAND, "commands": [COMMAND] }),
            ),
        ),
        (
            "cline",
            vec![call_update(
                "tool_call_update",
                "t",
                &asked(&format!("run_commands: {COMMAND}"), &lists),
            )],
            asked(&format!("run_commands: {COMMAND}"), &lists),
        ),
        (
            "auggie",
            vec![announced(&quoted("Run"), here.clone())],
            asked(&quoted("Launch"), &here),
        ),
        (
            "fast-agent",
            vec![call_update(
                "tool_call",
                "t",
                &json!({ "kind": "execute", "title": "execute", "content": [] }),
            )],
            asked("execute", &json!({ "command": COMMAND })),
        ),
    ]
}

fn decide(rules: Value, updates: &[Value], call: &Value) -> String {
    let mut host = host(rules);
    for known in updates {
        update(&mut host, known.clone());
    }
    ask(&mut host, call.clone())
}

#[test]
fn a_command_is_found_wherever_an_agent_puts_it() {
    for (name, updates, call) in agents() {
        let decide = |rule: Value| decide(json!([rule]), &updates, &call);
        let both = json!({ "decision": "allow", "command": ["cargo test *", "git status"] });
        assert_eq!(decide(both), "allow_once", "{name}");
        let one = json!({ "decision": "allow", "command": "cargo test *" });
        assert_eq!(decide(one), "ask", "{name}");
        let denied = json!({ "decision": "deny", "command": "git *" });
        assert_eq!(decide(denied), "reject_once", "{name}");
        let other = json!({ "decision": "deny", "command": "git push *" });
        assert_eq!(decide(other), "ask", "{name}");
    }
}

/// Extensions of pi ask about an announced command with their own text and id.
#[test]
fn a_question_that_repeats_an_announced_command_is_about_it() {
    let announced = call_update(
        "tool_call",
        "call_1",
        &json!({ "kind": "execute", "title": COMMAND, "status": "pending" }),
    );
    let title = format!("Dangerous command:\n\n  {COMMAND}\n\nAllow?");
    for (title, input) in [
        (
            "Allow bash?",
            json!({ "method": "confirm", "title": "Allow bash?", "message": COMMAND }),
        ),
        (
            &*title,
            json!({ "method": "select", "title": title, "options": ["Yes", "No"] }),
        ),
    ] {
        let call = json!({ "toolCallId": "pi-ui-1", "kind": "other", "status": "pending", "title": title, "rawInput": input });
        for (rule, known, expected) in [
            (
                json!({ "decision": "deny", "command": "git *" }),
                std::slice::from_ref(&announced),
                "reject_once",
            ),
            (
                json!({ "decision": "deny", "command": "git push *" }),
                std::slice::from_ref(&announced),
                "ask",
            ),
            (
                json!({ "decision": "deny", "command": "git *" }),
                &[],
                "ask",
            ),
            (
                json!({ "decision": "allow", "command": ["cargo test *", "git status"] }),
                std::slice::from_ref(&announced),
                "ask",
            ),
            (
                json!({ "decision": "allow", "kind": "other" }),
                std::slice::from_ref(&announced),
                "ask",
            ),
            (
                json!({ "decision": "allow", "kind": "other" }),
                &[],
                "allow_once",
            ),
        ] {
            assert_eq!(
                decide(json!([rule]), known, &call),
                expected,
                "{title}: {rule}"
            );
        }
    }
}

/// The agent may run either of the two.
#[test]
fn a_title_that_differs_from_the_command_leaves_the_decision_to_the_user() {
    for (name, updates, call) in agents() {
        let rules = json!([{ "decision": "allow", "command": ["cargo test *", "git status"] }]);
        for title in [
            "rm -rf ~",
            "cargo test --all; git status; rm x",
            "sudo cargo test --all; git status",
        ] {
            let mut call = call.clone();
            call["title"] = title.into();
            assert_eq!(
                decide(rules.clone(), &updates, &call),
                "ask",
                "{name}: {title}"
            );
        }
    }
}

#[test]
fn a_command_elsewhere_or_in_another_environment_is_left_to_the_user() {
    let rules = json!([{ "decision": "allow", "command": ["make", "cat *"] }]);
    for (input, expected) in [
        (json!({ "command": "make" }), "allow_once"),
        (json!({ "command": "make", "cwd": "/proj" }), "allow_once"),
        (json!({ "command": "make", "workdir": "sub" }), "allow_once"),
        (json!({ "command": "make", "env": {} }), "allow_once"),
        (json!({ "command": "make", "args": [] }), "allow_once"),
        (json!({ "command": ["make"] }), "allow_once"),
        (json!({ "cmd": "make" }), "allow_once"),
        (json!(r#"{ "command": "make" }"#), "allow_once"),
        (json!("make"), "allow_once"),
        (
            json!({ "command": "make", "env": { "http_proxy": "", "HTTP_PROXY": "" } }),
            "ask",
        ),
        (json!({ "command": "make", "cwd": "/tmp" }), "ask"),
        (json!({ "command": "make", "cwd": "../x" }), "ask"),
        (json!({ "command": "make", "dir_path": "~" }), "ask"),
        (json!({ "command": "make", "cwd": "sub/.git" }), "ask"),
        (json!({ "command": "make", "args": ["evil"] }), "ask"),
        (json!({ "command": ["make", "evil"] }), "ask"),
        (json!({ "command": "make", "script": "evil" }), "ask"),
        (json!({ "command": "make", "commands": ["evil"] }), "ask"),
        (json!({ "command": 7 }), "ask"),
        (json!({ "command": { "text": "make" } }), "ask"),
        (
            json!({ "command": "cat a > b.txt", "workdir": "sub" }),
            "ask",
        ),
        (json!({ "command": "cat a > b.txt" }), "allow_once"),
    ] {
        let call =
            json!({ "toolCallId": "t", "kind": "execute", "title": "Terminal", "rawInput": input });
        assert_eq!(decide(rules.clone(), &[], &call), expected, "{input}");
    }
    for odd in [
        r#""rawInput":{"command":"make","command":"evil"}"#,
        r#""rawInput":{"command":"make","Command":"evil"}"#,
        r#""rawInput":{"command":"make \ud800"}"#,
    ] {
        let mut host = host(rules.clone());
        let call = format!(r#"{{"toolCallId":"t","kind":"execute","title":"Terminal",{odd}}}"#);
        let options = options(ALL);
        let params = format!(r#"{{"sessionId":"s","toolCall":{call},"options":{options}}}"#);
        assert_eq!(choose(&mut host, raw(&params)), "ask", "{odd}");
    }
}

/// Agents on models behind compatible servers number their calls from the start again in each turn.
#[test]
fn a_finished_call_does_not_affect_a_later_call_with_its_id() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read", "path": "./**" }]));
    for (kind, expected) in [
        ("read", "allow_once"),
        ("execute", "ask"),
        ("read", "allow_once"),
    ] {
        let known = json!({ "kind": kind, "title": "x", "locations": [{ "path": "/proj/a" }] });
        update(&mut host, call_update("tool_call", "t", &known));
        assert_eq!(
            ask(&mut host, call(kind, "x", &["/proj/a"])),
            expected,
            "{kind}"
        );
        update(
            &mut host,
            call_update("tool_call_update", "t", &json!({ "status": "completed" })),
        );
        let id = host.request(
            Peer::Client,
            "session/prompt",
            json!({ "sessionId": "s", "prompt": [] }),
        );
        host.answer(id, json!({ "stopReason": "end_turn" }));
        host.sent();
    }
}
