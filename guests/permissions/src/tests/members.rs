//! The parts of a call that are read, and calls that cannot be read.

use super::*;

/// Malformed members of a call, and whether their readable part is denied below.
const UNREADABLE: &[(&str, bool)] = &[
    (r#""locations": [{ "uri": "x" }]"#, false),
    (r#""locations": "all""#, false),
    (r#""locations": {}"#, false),
    (
        r#""locations": [{ "path": 7 }, { "path": "/proj/secret" }]"#,
        true,
    ),
    (r#""locations": [{ "path": null }]"#, false),
    (r#""locations": ["/proj/secret"]"#, false),
    (
        r#""locations": [{ "path": "/proj/a", "path": "/proj/secret" }]"#,
        true,
    ),
    (
        r#""locations": [{ "path": "/proj/secret", "path": "/proj/a" }]"#,
        true,
    ),
    (r#""locations": [{ "PATH": "/proj/secret" }]"#, true),
    (r#""locations": [{ "path": "/proj/\ud800/secret" }]"#, true),
    (
        r#""locations": [], "locations": [{ "path": "/proj/a" }]"#,
        false,
    ),
    (r#""kind": 7"#, false),
    (r#""kind": "read", "kind": "execute""#, true),
    (r#""kind": "execute", "kind": "read""#, true),
    (r#""\u212aind": "execute""#, true),
    (r#""title": ["secret"]"#, false),
    (r#""title": "a secret\ud800""#, true),
    (r#""title": "a", "\u0074itle": "a secret""#, true),
    (r#""content": "x""#, false),
    (r#""content": ["x"]"#, false),
    (r#""content": [{ "path": "/proj/secret" }]"#, true),
    (
        r#""content": [{ "type": "patch", "path": "/proj/secret" }]"#,
        true,
    ),
    (
        r#""content": [{ "type": 7, "path": "/proj/secret" }]"#,
        true,
    ),
    (
        r#""content": [{ "type": "content", "type": "diff", "path": "/proj/secret" }]"#,
        true,
    ),
    (
        r#""content": [{ "type": "DIFF", "path": "/proj/secret" }]"#,
        true,
    ),
    (r#""content": [{ "type": "diff" }]"#, false),
    (r#""content": [{ "type": "diff", "path": 7 }]"#, false),
    (r#""content": [{ "type": "diff", "newText": "x" }]"#, false),
    (r#""content": [{ "type": "diff", "changes": "x" }]"#, false),
    (r#""content": [{ "type": "diff", "changes": [7] }]"#, false),
    (
        r#""content": [{ "type": "diff", "changes": [{ "path": "/proj/secret" }] }]"#,
        true,
    ),
    (
        r#""content": [{ "type": "diff", "changes": [{ "operation": "modify" }] }]"#,
        false,
    ),
    (
        r#""content": [{ "type": "diff", "changes": [{ "operation": "link", "path": "/proj/secret" }] }]"#,
        true,
    ),
    (
        r#""content": [{ "type": "diff", "changes": [{ "operation": "move", "path": "/proj/secret" }] }]"#,
        true,
    ),
    (
        r#""content": [{ "type": "diff", "changes": [{ "operation": "add", "path": "/proj/a", "fileType": "symlink" }] }]"#,
        false,
    ),
    (
        r#""content": [{ "type": "diff", "changes": [{ "operation": "add", "path": "/proj/a", "fileType": "new" }] }]"#,
        false,
    ),
    (r#""\ud800": 1, "kind": 7"#, false),
];

#[test]
fn an_unreadable_call_is_never_allowed_and_denied_by_its_readable_parts() {
    let rules = json!([
        { "decision": "deny", "kind": "execute" },
        { "decision": "deny", "title": "*secret*" },
        { "decision": "deny", "path": "**/secret" },
        { "decision": "allow" },
    ]);
    for (part, denied) in UNREADABLE {
        let expected = if *denied { "reject_once" } else { "ask" };
        let asked = |part: &str| {
            let options = options(ALL);
            raw(&format!(
                r#"{{ "sessionId": "s", "toolCall": {{ "toolCallId": "t"{part} }}, "options": {options} }}"#
            ))
        };
        let mut one = host(rules.clone());
        assert_eq!(
            choose(&mut one, asked(&format!(", {part}"))),
            expected,
            "{part}"
        );
        let mut two = host(rules.clone());
        update_raw(
            &mut two,
            &format!(r#"{{ "sessionUpdate": "tool_call", "toolCallId": "t", {part} }}"#),
        );
        assert_eq!(
            choose(&mut two, asked("")),
            expected,
            "announced before: {part}"
        );
        let clear = r#", "content": [{ "type": "diff", "path": "/proj/a" }], "locations": null, "kind": "edit""#;
        assert_eq!(choose(&mut host(rules.clone()), asked(clear)), "allow_once");
    }
}

#[test]
fn a_chunk_of_content_counts_like_content() {
    let chunk = |content: Value| call_update("tool_call_content_chunk", "t", &content);
    for (content, expected) in [
        (
            json!({ "content": { "type": "diff", "path": "/proj/a" } }),
            "allow_once",
        ),
        (
            json!({ "content": { "type": "diff", "path": "/etc/a" } }),
            "ask",
        ),
        (json!({ "content": { "type": "diff" } }), "ask"),
        (json!({ "content": { "type": "new" } }), "ask"),
        (json!({ "content": [] }), "ask"),
        (json!({}), "ask"),
    ] {
        let mut host = host(json!([{ "decision": "allow", "path": "./**" }]));
        update(&mut host, chunk(content.clone()));
        let asked = json!({ "toolCallId": "t", "locations": [{ "path": "/proj/a" }] });
        assert_eq!(ask(&mut host, asked), expected, "{content}");
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
fn a_diff_implies_its_kind() {
    let v1 = json!({ "type": "diff", "path": "/proj/a", "newText": "" });
    let v2 = |operation: &str| json!({ "type": "diff", "changes": [{ "operation": operation, "path": "/proj/a", "oldPath": "/proj/b" }] });
    let rules = |kinds: Value| json!([{ "decision": "deny", "kind": "delete" }, { "decision": "allow", "kind": kinds }]);
    let gone = json!({ "type": "diff", "path": "/proj/a", "newText": "", "deleted": true });
    for (kind, content, allowed, expected) in [
        ("edit", &v1, json!("edit"), "allow_once"),
        ("read", &v1, json!("read"), "ask"),
        ("read", &v1, json!(["read", "edit"]), "allow_once"),
        ("edit", &v2("modify"), json!("edit"), "allow_once"),
        ("edit", &v2("move"), json!("edit"), "ask"),
        ("edit", &v2("move"), json!(["edit", "move"]), "allow_once"),
        (
            "edit",
            &v2("delete"),
            json!(["edit", "delete"]),
            "reject_once",
        ),
        ("edit", &gone, json!("edit"), "reject_once"),
    ] {
        let asked = json!({ "toolCallId": "t", "kind": kind, "content": [content] });
        assert_eq!(
            ask(&mut host(rules(allowed)), asked),
            expected,
            "{kind} {content}"
        );
    }
}

#[test]
fn a_call_that_is_too_large_is_never_allowed() {
    let mut host =
        host(json!([{ "decision": "deny", "path": "**/secret" }, { "decision": "allow" }]));
    let many = |count: usize| -> Vec<_> {
        let names = (0..count)
            .map(|n| format!("/proj/{n}"))
            .chain(["/proj/secret".into()]);
        names.map(|path| json!({ "path": path })).collect()
    };
    assert_eq!(
        ask(
            &mut host,
            json!({ "toolCallId": "t", "locations": many(10_000) })
        ),
        "ask"
    );
    assert_eq!(
        ask(
            &mut host,
            json!({ "toolCallId": "t", "locations": many(1000) })
        ),
        "reject_once"
    );
    let title = "x".repeat(1_000_000);
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "title": title })),
        "ask"
    );
}

#[test]
fn a_rule_that_denies_other_matches_unknown_kinds() {
    let rules = |decision: &str| json!([{ "decision": decision, "kind": "other" }]);
    for (kind, allowed, denied) in [
        (json!("other"), "allow_once", "reject_once"),
        (json!("_own"), "ask", "reject_once"),
        (json!("new"), "ask", "reject_once"),
        (json!("OTHER"), "ask", "reject_once"),
        (Value::Null, "ask", "reject_once"),
        (json!("read"), "ask", "ask"),
        (json!("READ"), "ask", "ask"),
    ] {
        let asked = json!({ "toolCallId": "t", "kind": kind });
        assert_eq!(
            ask(&mut host(rules("allow")), asked.clone()),
            allowed,
            "{kind}"
        );
        assert_eq!(ask(&mut host(rules("deny")), asked), denied, "{kind}");
    }
    let mut host = host(
        json!([{ "decision": "deny", "kind": "execute" }, { "decision": "allow", "kind": "_own" }]),
    );
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "t", "kind": "Execute" })),
        "reject_once"
    );
    assert_eq!(
        ask(&mut host, json!({ "toolCallId": "u", "kind": "_own" })),
        "allow_once"
    );
}

#[test]
fn a_title_is_allowed_only_if_all_of_it_is_visible() {
    let rules = |decision: &str| json!([{ "decision": decision, "title": "git status*" }]);
    for (title, allowed, denied) in [
        ("git status --short", "allow_once", "reject_once"),
        ("GIT STATUS", "ask", "reject_once"),
        ("git status\nrm -rf ~", "ask", "reject_once"),
        ("git status\u{2028}rm -rf ~", "ask", "reject_once"),
        ("git status \u{202e}x", "ask", "reject_once"),
        ("git\u{200b} status", "ask", "reject_once"),
        ("git ｓtatus", "ask", "reject_once"),
        ("git stash", "ask", "ask"),
    ] {
        let call = call("execute", title, &[]);
        assert_eq!(
            ask(&mut host(rules("allow")), call.clone()),
            allowed,
            "{title}"
        );
        assert_eq!(ask(&mut host(rules("deny")), call), denied, "{title}");
    }
}

#[test]
fn a_title_allows_no_command_in_the_input_that_is_not_the_title() {
    let rules = json!([{ "decision": "allow", "title": "git status*" }]);
    for (input, expected) in [
        (json!(null), "allow_once"),
        (json!({}), "allow_once"),
        (json!({ "command": "git status" }), "allow_once"),
        (json!({ "command": "git status --short" }), "allow_once"),
        (
            json!({ "command": ["bash", "-lc", "git status"] }),
            "allow_once",
        ),
        (
            json!({ "command": "git status", "cwd": "/proj/a" }),
            "allow_once",
        ),
        (json!({ "command": "git status", "cwd": "/etc" }), "ask"),
        (json!({ "command": "git status", "script": "rm x" }), "ask"),
        (json!({ "command": "git status; rm x" }), "ask"),
        (json!({ "command": "git status\nrm x" }), "ask"),
        (
            json!({ "command": ["bash", "-c", "rm x", "git status"] }),
            "ask",
        ),
        (json!({ "command": "rm -rf ." }), "ask"),
        (json!({ "code": "rm x" }), "ask"),
        (json!("rm x"), "ask"),
    ] {
        let mut asked = call("execute", "git status", &[]);
        asked["rawInput"] = input.clone();
        assert_eq!(ask(&mut host(rules.clone()), asked), expected, "{input}");
    }
    let mut read = call("read", "git status", &[]);
    read["rawInput"] = json!({ "command": "rm x" });
    assert_eq!(ask(&mut host(rules.clone()), read), "ask");
    // A call that was once of another kind may run a command all the same.
    let mut host = host(rules);
    let announced = json!({ "kind": "read", "title": "git status" });
    update(&mut host, call_update("tool_call", "t", &announced));
    let mut asked = call("execute", "git status", &[]);
    asked["rawInput"] = json!({ "code": "rm x" });
    assert_eq!(ask(&mut host, asked), "ask");
}

#[test]
fn a_title_allows_no_path_in_the_input_that_the_rule_does_not() {
    let rule = json!({ "decision": "allow", "title": "Read *" });
    let mut with_path = rule.clone();
    with_path["path"] = "./**".into();
    for (input, by_title, by_path) in [
        (json!({}), "allow_once", "allow_once"),
        (
            json!({ "issue": 7, "in": "a/b" }),
            "allow_once",
            "allow_once",
        ),
        (
            json!({ "url": "https://x.example/a" }),
            "allow_once",
            "allow_once",
        ),
        (json!({ "file_path": "/proj/b" }), "ask", "allow_once"),
        (json!({ "file_path": "b/c" }), "ask", "allow_once"),
        (json!({ "of": { "paths": ["b"] } }), "ask", "allow_once"),
        (json!([{ "path": "b" }]), "ask", "allow_once"),
        (json!({ "file_path": "../b" }), "ask", "ask"),
        (json!({ "file_path": "/etc/passwd" }), "ask", "ask"),
        (json!({ "what": "/etc/passwd" }), "ask", "ask"),
        (json!({ "what": "~/.netrc" }), "ask", "ask"),
        (json!({ "what": "C:\\a" }), "ask", "ask"),
    ] {
        for (rule, paths, expected) in [
            (&rule, &[][..], by_title),
            (&with_path, &["/proj/a"][..], by_path),
        ] {
            let mut asked = call("read", "Read it", paths);
            asked["rawInput"] = input.clone();
            let decided = ask(&mut host(json!([rule])), asked);
            assert_eq!(decided, expected, "{rule} {input}");
        }
    }
}

#[test]
fn switching_the_mode_needs_a_rule_that_names_it() {
    let asked = json!({ "toolCallId": "t", "kind": "switch_mode", "title": "Leave plan mode" });
    for (rule, expected) in [
        (json!({ "decision": "allow" }), "ask"),
        (json!({ "decision": "allow", "title": "Leave*" }), "ask"),
        (
            json!({ "decision": "allow", "kind": "switch_mode" }),
            "allow_once",
        ),
        (json!({ "decision": "deny" }), "reject_once"),
    ] {
        let decided = ask(&mut host(json!([rule.clone()])), asked.clone());
        assert_eq!(decided, expected, "{rule}");
    }
}
