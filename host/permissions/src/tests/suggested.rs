//! Rules that recorded calls suggest.

use std::path::{Path, PathBuf};

use crate::{Decision, Recorded, RecordedCall, Suggestion, suggest};

fn suggested(commands: &[&str], least: usize) -> Suggestion {
    let calls = (1..).zip(commands).map(|(line, command)| RecordedCall {
        file: PathBuf::from("trace.jsonl"),
        line,
        command: (*command).to_owned(),
    });
    suggest(calls, least)
}

#[test]
fn only_what_is_known_to_be_harmless_is_allowed() {
    let commands = [
        "git log -3",
        "git push origin",
        "git log --oneline && git push",
        "make all",
        "make all",
        "cat .env",
        "git log > x",
        "git log $(rm x)",
        "PAGER=evil git log",
        "git log & rm x",
        "git diff --no-index /etc/passwd x",
        "pwd",
    ];
    let suggestion = suggested(&commands, 2);
    let rules: Vec<_> = suggestion
        .rules
        .iter()
        .map(|rule| {
            (
                rule.decision,
                &*rule.command[0],
                &*rule.from.rule,
                rule.from.line,
            )
        })
        .collect();
    assert_eq!(
        rules,
        [
            (Decision::Ask, "git push *", "seen 2 times, here first", 2),
            (Decision::Allow, "git log *", "seen 2 times, here first", 1),
        ]
    );
    assert!(
        suggestion
            .rules
            .iter()
            .all(|rule| { rule.decision != Decision::Allow || !rule.redirections })
    );
    assert_eq!(suggestion.calls, commands.len());
    let first = &suggestion.others[0];
    assert_eq!((&*first.command, first.count), ("make all", 2));
    let has = |command: &str| suggestion.others.iter().any(|seen| seen.command == command);
    for other in [
        "make all",
        "cat .env",
        "pwd",
        "PAGER=evil git log",
        "git diff --no-index",
    ] {
        assert!(has(other), "{other}: {suggestion:?}");
    }
}

#[test]
fn of_a_command_without_a_rule_little_is_kept() {
    let long = format!("{} x", "é".repeat(2000));
    let suggestion = suggested(&[&long, "curl x"], 2);
    let seen = suggestion.others.iter();
    let seen: Vec<_> = seen.map(|seen| (seen.command.len(), seen.why)).collect();
    assert_eq!(seen[1].0, 120);
    assert_eq!(seen[0], (6, "it acts outside, but was seen too seldom"));
}

#[test]
fn a_tool_has_a_command_in_its_input() {
    let of = |input: &str| {
        let call = RecordedCall::of_input(Path::new("s.jsonl"), 7, input)?;
        assert_eq!(call.line, 7);
        Some(call.command)
    };
    assert_eq!(of(r#"{"cmd":"git log"}"#).as_deref(), Some("git log"));
    let script = r#"{"command":["/bin/bash","-lc","git log"]}"#;
    assert_eq!(of(script).as_deref(), Some("git log"));
    for input in ["null", "{", r#"{"path":"x"}"#, r#"{"command":["a b"]}"#] {
        assert_eq!(of(input), None, "{input}");
    }
}

#[test]
fn a_call_of_a_trace_counts_once() {
    let line = |text: &str| serde_json::from_str(text).unwrap();
    let update = r#"{"connection":"c","from":"agent","to":"client","kind":"notification","method":"session/update",
        "session":"s","params":{"update":{"toolCallId":"1","rawInput":{"command":["bash","-lc","git log"]}}}}"#;
    let hook = r#"{"connection":"c","from":"agent","to":"p","kind":"request","method":"_acp-chain/hook/before_tool",
        "session":"s","params":{"toolCall":{"toolCallId":"1","rawInput":{"command":"git log"}}}}"#;
    let passed = r#"{"connection":"c","from":"p","to":"client","kind":"notification","method":"session/update",
        "session":"s","params":{"update":{"toolCallId":"2","rawInput":{"command":"git log"}}}}"#;
    let other = r#"{"connection":"c","from":"agent","to":"client","kind":"notification","method":"session/update",
        "session":"s","params":{"update":{"toolCallId":"3","rawInput":{"path":"x"}}}}"#;
    let mut recorded = Recorded::default();
    let file = Path::new("trace.jsonl");
    let mut calls = Vec::new();
    for (number, text) in [(1, update), (2, hook), (3, passed), (4, other)] {
        calls.extend(recorded.call(file, number, &line(text)));
    }
    assert_eq!(
        calls,
        [RecordedCall {
            file: file.to_owned(),
            line: 1,
            command: "git log".to_owned(),
        }]
    );
}
