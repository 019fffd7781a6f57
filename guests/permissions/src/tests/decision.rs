//! The rule that decides, and the option that it chooses.

use super::*;

#[test]
fn without_rules_the_user_is_asked() {
    assert_eq!(ask(&mut host(json!([])), call("read", "x", &[])), "ask");
}

#[test]
fn the_first_rule_that_matches_decides() {
    let mut host = host(json!([
        { "decision": "ask", "title": "*secret*" },
        { "decision": "allow", "kind": ["read", "search"] },
        { "decision": "deny", "kind": "execute" },
        { "decision": "allow" },
    ]));
    for (kind, title, expected) in [
        ("read", "Read a secret", "ask"),
        ("read", "Read", "allow_once"),
        ("execute", "rm", "reject_once"),
        ("other", "anything", "allow_once"),
    ] {
        assert_eq!(ask(&mut host, call(kind, title, &[])), expected);
    }
}

#[test]
fn an_option_that_remembers_is_chosen_only_by_a_rule_with_remember() {
    let rules = |remember: bool| {
        json!([
            { "decision": "allow", "kind": "read", "remember": remember },
            { "decision": "deny", "remember": remember },
        ])
    };
    let (once, always) = (&mut host(rules(false)), |kinds| offer("read", kinds));
    assert_eq!(choose(once, always(ALL)), "allow_once");
    assert_eq!(
        choose(once, always(&["allow_always", "reject_once"])),
        "ask"
    );
    assert_eq!(choose(once, offer("edit", ALL)), "reject_once");
    let remembering = &mut host(rules(true));
    assert_eq!(choose(remembering, always(ALL)), "allow_always");
    assert_eq!(choose(remembering, always(&["allow_once"])), "allow_once");
    assert_eq!(choose(remembering, offer("edit", ALL)), "reject_always");
}

/// A request for a call of this kind, with these options.
fn offer(kind: &str, kinds: &[&str]) -> Value {
    json!({ "sessionId": "s", "toolCall": call(kind, "", &[]), "options": options(kinds) })
}

#[test]
fn a_rule_that_denies_needs_no_option() {
    let mut host =
        host(json!([{ "decision": "deny", "kind": "execute" }, { "decision": "allow" }]));
    for (offered, allowed, denied) in [
        (
            &["allow_once", "reject_always"][..],
            "allow_once",
            "reject_always",
        ),
        (&["allow_once"], "allow_once", "cancelled"),
        (&["new_kind"], "ask", "cancelled"),
        (&[], "ask", "cancelled"),
    ] {
        assert_eq!(choose(&mut host, offer("read", offered)), allowed);
        assert_eq!(choose(&mut host, offer("execute", offered)), denied);
    }
    let none = json!({ "sessionId": "s", "toolCall": call("execute", "", &[]) });
    assert_eq!(choose(&mut host, none), "cancelled");
}

#[test]
fn of_two_options_that_allow_none_is_taken() {
    let mut host = host(json!([
        { "decision": "allow", "kind": "read", "remember": true },
        { "decision": "allow", "kind": "edit" },
        { "decision": "deny" },
    ]));
    let params = |kind: &str, options: Value| json!({ "sessionId": "s", "toolCall": call(kind, "", &[]), "options": options });
    let option = |id: &str, kind: &str| json!({ "optionId": id, "name": "", "kind": kind });
    let twice = json!([
        option("a", "allow_once"),
        option("b", "allow_once"),
        option("no", "reject_once")
    ]);
    assert_eq!(choose(&mut host, params("edit", twice.clone())), "ask");
    assert_eq!(choose(&mut host, params("delete", twice)), "no");
    // It is unknown which of them allows less; the option that does not remember is clear.
    let wide = json!([
        option("tool", "allow_always"),
        option("server", "allow_always"),
        option("once", "allow_once")
    ]);
    assert_eq!(choose(&mut host, params("read", wide)), "once");
    for same in ["allow_always", "new_kind", "reject_once"] {
        let one = json!([option("a", same), option("a", "allow_once")]);
        assert_eq!(choose(&mut host, params("edit", one)), "ask", "{same}");
    }
    let shared = json!([
        option("a", "allow_once"),
        option("a", "reject_once"),
        option("b", "reject_once")
    ]);
    assert_eq!(choose(&mut host, params("delete", shared)), "b");
    for odd in [
        json!([option("a", "allow_once"), { "kind": "allow_once" }]),
        json!([option("a", "allow_once"), "b"]),
        json!([{ "optionId": 1, "kind": "allow_once" }]),
        json!("all"),
    ] {
        assert_eq!(
            choose(&mut host, params("edit", odd.clone())),
            "ask",
            "{odd}"
        );
        assert_eq!(choose(&mut host, params("delete", odd)), "cancelled");
    }
}

#[test]
fn ids_that_differ_only_in_their_escapes_are_the_same() {
    let mut host = host(json!([{ "decision": "allow", "kind": "read" }]));
    let twice = raw(
        r#"{ "sessionId": "s", "toolCall": { "toolCallId": "t", "kind": "read" }, "options":
        [{ "optionId": "a", "kind": "allow_once" }, { "optionId": "\u0061", "kind": "allow_always" }] }"#,
    );
    assert_eq!(choose(&mut host, twice), "ask");
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "kind": "execute" }),
    );
    let other = raw(
        r#"{ "sessionId": "\u0073", "toolCall": { "toolCallId": "\u0074", "kind": "read" },
        "options": [{ "optionId": "a", "kind": "allow_once" }] }"#,
    );
    assert_eq!(choose(&mut host, other), "ask");
}

#[test]
fn a_title_stays_in_its_line_of_the_log() {
    let mut host = host(json!([
        { "decision": "allow", "kind": "read" },
        { "decision": "deny" },
    ]));
    host.log();
    let title = format!(
        "ls\nrule 9: allowed\u{1b}[2K\u{202e}\u{200b}`{}",
        "x".repeat(500)
    );
    for kind in ["read", "edit"] {
        ask(&mut host, call(kind, &title, &[]));
    }
    let log = host.log();
    assert!(log.len() >= 2);
    for (_, line) in log {
        let odd = |c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}');
        assert!(!line.contains(odd), "{line:?}");
        assert!(line.contains(r#""ls\nrule 9"#) && line.contains('…') && line.len() < 400);
    }
}
