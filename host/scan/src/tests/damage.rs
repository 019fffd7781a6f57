//! Recordings that are cut, damaged, hostile or missing.

use std::path::Path;

use proptest::prelude::*;

use super::{found, read};
use crate::event::Event;
use crate::find::Recording;
use crate::format::Format;

const LINES: [Format; 4] = [Format::Claude, Format::Codex, Format::Gemini, Format::Trace];

/// A line of Claude with a prompt.
fn prompt(text: &str) -> String {
    format!(r#"{{"type":"user","sessionId":"s","cwd":"/work","message":{{"content":"{text}"}}}}"#)
}

fn prompts(events: &[Event]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| match event {
        Event::Prompt(texts) => Some(texts),
        _ => None,
    });
    texts.flatten().map(String::as_str).collect()
}

#[test]
fn a_line_that_is_cut_or_damaged_hides_no_other() {
    let whole = prompt("one");
    let cut = &prompt("two")[..40];
    let text = format!(
        "{cut}\n{whole}\n{{\"type\":\"user\",\"message\":7}}\nnot JSON\n\n{}\n{}",
        "x".repeat(2 << 20),
        &prompt("three")[..50]
    );
    let (events, wrong) = read(Format::Claude, Path::new("s.jsonl"), text.as_bytes());
    assert_eq!(prompts(&events), ["one"]);
    let wrong: Vec<_> = wrong.iter().map(|(line, what)| (*line, &**what)).collect();
    let expected = [
        (1, "cut"),
        (3, "damaged"),
        (4, "damaged"),
        (5, "cut"),
        (6, "too long"),
        (7, "cut"),
    ];
    assert_eq!(wrong, expected);
}

#[test]
fn a_list_without_end_is_damage_and_the_next_line_is_read() {
    let items = |item: &str| vec![item; 10_001].join(",");
    let blocks = items("{}");
    let calls = items(r#"{"id":"c","name":"x"}"#);
    for (format, long, next) in [
        (
            Format::Claude,
            format!(r#"{{"type":"user","sessionId":"s","message":{{"content":[{blocks}]}}}}"#),
            prompt("one"),
        ),
        (
            Format::Gemini,
            format!(r#"{{"id":"a","toolCalls":[{calls}]}}"#),
            r#"{"id":"b","type":"user","content":"one"}"#.to_owned(),
        ),
    ] {
        let text = format!("{long}\n{next}");
        let (events, wrong) = read(format, Path::new("s.jsonl"), text.as_bytes());
        assert_eq!(wrong, [(1, "damaged".to_owned())], "{format:?}");
        assert_eq!(prompts(&events), ["one"], "{format:?}");
    }
}

#[test]
fn a_folder_whose_path_is_too_long_for_one_is_not_kept_for_each_call() {
    let line = prompt("one").replace("/work", &format!("/{}", "a".repeat(5000)));
    let (events, wrong) = read(Format::Claude, Path::new("s.jsonl"), line.as_bytes());
    assert!(wrong.is_empty(), "{wrong:?}");
    let id = "s".to_owned();
    assert_eq!(events[0], Event::Session { id, cwd: None });
}

#[test]
fn half_a_character_is_read_as_one_that_is_unknown() {
    let (events, wrong) = read(
        Format::Claude,
        Path::new("s.jsonl"),
        prompt("key\\ud83d").as_bytes(),
    );
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(prompts(&events), ["key\u{fffd}"]);
}

#[test]
fn members_and_events_that_nobody_knows_are_passed_over() {
    for (format, text) in [
        (Format::Claude, r#"{"type":"new","sessionId":"s","x":[1]}"#),
        (
            Format::Codex,
            r#"{"type":"event_msg","payload":{"type":"new","item":7}}"#,
        ),
        (
            Format::Codex,
            r#"{"type":"response_item","payload":{"type":"new"}}"#,
        ),
        (Format::Codex, r#"{"record_type":"state"}"#),
        (Format::Gemini, r#"{"$set":{"lastUpdated":"now"},"x":1}"#),
        (Format::Gemini, r#"{"$rewindTo":"m"}"#),
        (Format::Trace, r#"{"proxy":"p","state":"new"}"#),
    ] {
        let (events, wrong) = read(format, Path::new("s.jsonl"), text.as_bytes());
        assert_eq!((events, wrong), (vec![], vec![]), "{text}");
    }
}

#[test]
fn without_recordings_nothing_is_found() {
    let home = tempfile::tempdir().unwrap();
    for format in Format::AGENTS {
        assert!(found(format, home.path()).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_followed() {
    use std::fs;

    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let secret = home.path().join("elsewhere.jsonl");
    fs::write(&secret, prompt("one")).unwrap();
    std::os::unix::fs::symlink(&secret, folder.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink(home.path(), folder.join("folder")).unwrap();
    let listening = std::os::unix::net::UnixListener::bind(folder.join("socket.jsonl"));
    assert!(listening.is_ok());
    assert!(found(Format::Claude, home.path()).is_empty());
    fs::write(folder.join("own.jsonl"), prompt("one")).unwrap();
    let own = found(Format::Claude, home.path());
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].path, folder.join("own.jsonl"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_found_and_says_why() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects");
    std::fs::create_dir_all(home.path().join(".claude")).unwrap();
    // A link to itself cannot be read by anyone.
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let recordings = found(Format::Claude, home.path());
    assert_eq!(recordings.len(), 1, "{recordings:?}");
    assert_eq!((&recordings[0].path, recordings[0].size), (&folder, 0));
    let error = crate::commands(&recordings[0], &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, crate::Unreadable::File(_)), "{error}");
}

#[test]
fn archived_sessions_of_codex_are_found_and_compressed_ones_are_told() {
    let home = tempfile::tempdir().unwrap();
    let names = [
        "archived_sessions/rollout-a.jsonl",
        "sessions/2026/01/01/rollout-b.jsonl",
        "sessions/2026/01/01/rollout-c.jsonl.zst",
        "sessions/2026/01/01/notes.zst",
    ];
    for name in names {
        let path = home.path().join(".codex").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }
    let recordings = found(Format::Codex, home.path());
    let paths = recordings.iter().map(|recording| {
        let within = recording.path.strip_prefix(home.path().join(".codex"));
        within.unwrap().to_str().unwrap()
    });
    assert_eq!(paths.collect::<Vec<_>>(), names[..3]);
    let read = |recording: &Recording| crate::commands(recording, &mut |_, _| {});
    assert!(read(&recordings[1]).is_ok());
    let compressed = read(&recordings[2]);
    assert!(matches!(compressed, Err(crate::Unreadable::Compressed)));
}

#[test]
fn what_the_user_writes_while_claude_works_is_a_prompt() {
    let line = |attachment: &str| {
        format!(r#"{{"type":"attachment","sessionId":"s","attachment":{attachment}}}"#)
    };
    let lines = [
        r#"{"type":"queued_command","prompt":"one"}"#,
        r#"{"type":"queued_command","prompt":[{"type":"text","text":"two"},{"type":"image"}],"origin":{"kind":"human"}}"#,
        r#"{"type":"queued_command","prompt":"from a peer","origin":{"kind":"peer"}}"#,
        r#"{"type":"queued_command","prompt":"its own","isMeta":true}"#,
        r#"{"type":"file","prompt":7,"origin":"disk"}"#,
    ];
    let text = lines.map(line).join("\n");
    let (events, wrong) = read(Format::Claude, Path::new("s.jsonl"), text.as_bytes());
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(prompts(&events), ["one", "two"]);
}

#[test]
fn a_search_for_tools_of_codex_is_no_damage() {
    let line = r#"{"type":"response_item","payload":{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"query":"mail"}}}"#;
    let (events, wrong) = read(Format::Codex, Path::new("s.jsonl"), line.as_bytes());
    assert_eq!((events, wrong), (vec![], vec![]));
}

#[test]
fn results_of_gemini_are_parts_a_part_or_a_text() {
    for (result, expected) in [
        (r#""it is done""#, r#"["it is done"]"#),
        (
            r#"{"functionResponse":{"response":{"output":"it is done"}}}"#,
            r#"["it is done"]"#,
        ),
        (
            r#"["one",{"text":"two"},{"functionResponse":{"response":{"output":"three"}}}]"#,
            r#"["one", "two", "three"]"#,
        ),
        (r#"{"inlineData":{"mimeType":"image/png"}}"#, "[]"),
    ] {
        let line = format!(
            r#"{{"id":"m","type":"gemini","toolCalls":[{{"id":"c","name":"x","args":{{}},"result":{result}}}]}}"#
        );
        let (events, wrong) = read(Format::Gemini, Path::new("s.jsonl"), line.as_bytes());
        assert!(wrong.is_empty(), "{result}: {wrong:?}");
        let last = events.last().map(super::shown).unwrap_or_default();
        assert!(last.ends_with(&format!("{{}} {expected}")), "{last}");
    }
}

#[test]
fn nothing_is_read_of_a_connection_whose_trace_is_newer() {
    let prompt = |connection: &str| {
        format!(
            r#"{{"connection":"{connection}","from":"client","to":"agent","kind":"request","method":"session/prompt","session":"s","request":1,"params":{{"prompt":[{{"type":"text","text":"{connection}"}}]}}}}"#
        )
    };
    let trace = [
        r#"{"connection":"old","version":1}"#.to_owned(),
        r#"{"connection":"new","version":2}"#.to_owned(),
        prompt("new"),
        prompt("old"),
    ];
    let (events, wrong) = read(Format::Trace, Path::new("t"), trace.join("\n").as_bytes());
    assert_eq!(prompts(&events), ["old"]);
    assert_eq!(wrong, [(2, "damaged".to_owned())]);
}

#[test]
fn the_results_of_a_trace_count_once() {
    let trace = concat!(
        r#"{"connection":"c","version":1}"#,
        "\n",
        r#"{"connection":"c","from":"client","to":"redact","kind":"request","method":"session/new","request":1,"params":{"cwd":"/work"}}"#,
        "\n",
        r#"{"connection":"c","from":"redact","to":"client","kind":"response","method":"session/new","request":1,"result":{"sessionId":"s"}}"#,
        "\n",
        r#"{"connection":"c","from":"client","to":"redact","kind":"request","method":"session/prompt","session":"s","request":2,"params":{"sessionId":"s","prompt":[{"type":"text","text":"Go"}]}}"#,
        "\n",
        r#"{"connection":"c","from":"redact","to":"agent","kind":"request","method":"session/prompt","session":"s","request":2,"params":{"sessionId":"s","prompt":[{"type":"text","text":"Go"}]}}"#,
        "\n",
        r#"{"connection":"c","from":"agent","to":"redact","kind":"notification","method":"session/update","session":"s","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"make","kind":"execute","rawInput":{"command":"make"}}}}"#,
        "\n",
        r#"{"connection":"c","from":"agent","to":"redact","kind":"request","method":"_acp-chain/hook/before_tool","session":"s","params":{"sessionId":"s","toolCall":{"toolCallId":"1","title":"Bash","kind":"execute","status":"pending","rawInput":{"command":"make"}},"cwd":"/work","canChange":true}}"#,
        "\n",
        r#"{"connection":"c","from":"agent","to":"redact","kind":"notification","method":"session/update","session":"s","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}}}"#,
        "\n",
        r#"{"connection":"c","from":"agent","to":"redact","kind":"notification","method":"session/update","session":"s","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"2","title":"Remove it","kind":"delete","status":"failed","rawInput":{"path":"a"},"content":[{"type":"content","content":{"type":"text","text":"no"}}]}}}"#,
        "\n",
        r#"{"connection":"c","from":"agent","to":"client","kind":"response","method":"session/prompt","session":"s","request":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4,"totalTokens":7}}}"#,
        "\n",
    );
    let (events, wrong) = read(Format::Trace, Path::new("trace.jsonl"), trace.as_bytes());
    assert!(wrong.is_empty(), "{wrong:?}");
    let shown: Vec<_> = events.iter().map(super::shown).collect();
    assert_eq!(
        shown,
        [
            "session s in /work",
            "prompt [\"Go\"]",
            "BeforeTool Bash (Execute) {\"command\":\"make\"} []",
            "BeforeTool Remove it (Delete) {\"path\":\"a\"} []",
            "AfterTool Remove it (Delete) {\"path\":\"a\"} [\"no\"]",
            "used  3 4 0 0",
        ]
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for format in LINES {
            read(format, Path::new("s.jsonl"), &bytes);
        }
    }

    #[test]
    fn any_objects_are_read_or_rejected(text in r#"(\{("(type|payload|message|item|content|id|name|input|\$set|toolCalls|from|to|kind|method|params)":("(user|assistant|event_msg|response_item|a)"|1|null|\[\]|\[\{\}\]|\{"type":"text","text":"a"\}),?){0,5}\}?\n?){0,8}"#) {
        for format in LINES {
            read(format, Path::new("s.jsonl"), text.as_bytes());
        }
    }
}
