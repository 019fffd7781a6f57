//! Each recording of `tests/recordings`, read to events.

use std::fmt::Write as _;
use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{found, home, read, shown};
use crate::format::Format;
use crate::readers::opencode::{Database, Opencode};

/// The events of all recordings in a home folder, and that nothing is wrong with them.
fn events(format: Format, version: &str) -> String {
    let folder = home(version);
    let mut text = String::new();
    let recordings = found(format, &folder);
    assert!(!recordings.is_empty(), "{version}");
    for recording in recordings {
        let bytes = fs::read(&recording.path).unwrap();
        assert_eq!(recording.size, bytes.len() as u64);
        let (events, wrong) = read(format, &recording.path, &bytes);
        assert!(wrong.is_empty(), "{}: {wrong:?}", recording.path.display());
        let name = recording.path.file_name().unwrap().to_string_lossy();
        writeln!(text, "# {name}").unwrap();
        for event in &events {
            writeln!(text, "{}", shown(event)).unwrap();
        }
    }
    text
}

#[test]
fn claude() {
    insta::assert_snapshot!("claude", events(Format::Claude, "claude-agent-acp-0.101.0"));
}

#[test]
fn claude_of_the_older_generation() {
    insta::assert_snapshot!(
        "claude_older",
        events(Format::Claude, "claude-agent-acp-0.49.0")
    );
}

#[test]
fn codex_with_calls_of_the_model_and_with_its_programs() {
    insta::assert_snapshot!("codex", events(Format::Codex, "codex-acp-2.6.0"));
}

#[test]
fn codex_of_the_older_generation() {
    insta::assert_snapshot!("codex_older", events(Format::Codex, "codex-acp-0.16.0"));
}

#[test]
fn gemini() {
    insta::assert_snapshot!("gemini", events(Format::Gemini, "gemini-cli-0.61.0"));
}

#[test]
fn opencode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let sql = fs::read_to_string(home("opencode-1.18.33").join("opencode.sql")).unwrap();
    let made = Connection::open(&path).unwrap();
    made.execute_batch(&sql).unwrap();
    // As opencode leaves it: with what is new beside the file.
    made.pragma_update(None, "journal_mode", "WAL").unwrap();
    made.execute_batch("UPDATE session SET title = 'Another title'")
        .unwrap();
    let database = Database::open(&path).unwrap().unwrap();
    let mut reader = Opencode::default();
    let (mut text, mut events) = (String::new(), Vec::new());
    for session in database.sessions().unwrap() {
        writeln!(text, "# {} in {}", session.id, session.directory).unwrap();
        for part in database.parts(&session).unwrap() {
            let row = database.part(part).unwrap().unwrap();
            reader.read(&session, &row, &mut events).unwrap();
        }
    }
    for event in &events {
        writeln!(text, "{}", shown(event)).unwrap();
    }
    insta::assert_snapshot!("opencode", text);
}

/// As older versions wrote it, by their source.
#[test]
fn gemini_whose_chats_are_one_value() {
    let folder = tempfile::tempdir().unwrap();
    let chats = folder.path().join(".gemini/tmp/0a1b/chats");
    fs::create_dir_all(&chats).unwrap();
    let chat = json!({
        "sessionId": "s1", "projectHash": "0a1b", "startTime": "2025-10-01T10:00:00.000Z",
        "lastUpdated": "2025-10-01T10:01:00.000Z",
        "messages": [
            { "id": "m1", "timestamp": "", "type": "user", "content": "print the key" },
            {
                "id": "m2", "timestamp": "", "type": "gemini", "content": "It is there.",
                "model": "gemini-2.5-pro", "thoughts": [],
                "tokens": { "input": 30, "output": 5, "cached": 10, "thoughts": 2, "tool": 1, "total": 38 },
                "toolCalls": [{
                    "id": "c1", "name": "run_shell_command", "args": { "command": "cat key.txt" },
                    "result": [{ "functionResponse": {
                        "id": "c1", "name": "run_shell_command", "response": { "output": "the key" },
                    } }],
                    "status": "success", "timestamp": "",
                }],
            },
        ],
    });
    let written = serde_json::to_string_pretty(&chat).unwrap();
    fs::write(chats.join("session-2025-10-01T10-00-s1.json"), &written).unwrap();
    fs::write(chats.join("logs.json"), &written).unwrap();
    let recordings = found(Format::Gemini, folder.path());
    assert_eq!(recordings.len(), 1);
    let path = &recordings[0].path;
    let (events, wrong) = read(Format::Gemini, path, written.as_bytes());
    assert!(wrong.is_empty(), "{wrong:?}");
    let one_line = |event| {
        let text = shown(event);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let events: Vec<_> = events.iter().map(one_line).collect();
    let begun = r#"run_shell_command (Execute) { "command": "cat key.txt" }"#;
    let expected = [
        "session s1 in ?",
        r#"prompt ["print the key"]"#,
        "used gemini-2.5-pro 21 7 10 0",
        &format!("BeforeTool {begun} []"),
        &format!(r#"AfterTool {begun} ["the key"]"#),
    ];
    assert_eq!(events, expected);
    let cut = &written.as_bytes()[..written.len() / 2];
    let (_, wrong) = read(Format::Gemini, path, cut);
    assert_eq!(wrong, [(1, "cut".to_owned())]);
    // A newer version goes on with it in another file.
    fs::write(path.with_extension("jsonl"), "").unwrap();
    let recordings = found(Format::Gemini, folder.path());
    assert_eq!(recordings.len(), 1);
    assert_ne!(&recordings[0].path, path);
}

/// As older versions wrote it, by their source.
#[test]
fn opencode_whose_sessions_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".local/share/opencode");
    let write = |name: &str, value: &Value| {
        let path = data.join("storage").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let session =
        json!({ "id": "ses_1", "projectID": "p", "directory": "/home/me/work", "title": "t" });
    write("session/p/ses_1.json", &session);
    write("project/p.json", &json!({ "id": "p" }));
    write(
        "message/ses_1/msg_1.json",
        &json!({ "id": "msg_1", "sessionID": "ses_1", "role": "user" }),
    );
    write(
        "part/msg_1/prt_1.json",
        &json!({ "id": "prt_1", "type": "text", "text": "print the key" }),
    );
    let answer = json!({
        "id": "msg_2", "sessionID": "ses_1", "role": "assistant", "modelID": "m", "cost": 0,
        "tokens": { "input": 9, "output": 4, "reasoning": 0, "cache": { "read": 2, "write": 1 } },
    });
    write("message/ses_1/msg_2.json", &answer);
    let call = json!({
        "id": "prt_2", "type": "tool", "callID": "c", "tool": "bash",
        "state": { "status": "completed", "input": { "command": "cat key.txt" }, "output": "the key" },
    });
    write("part/msg_2/prt_2.json", &call);
    let recordings = found(Format::Opencode, folder.path());
    assert_eq!(recordings.len(), 1, "{recordings:?}");
    let database = Database::open(&recordings[0].path).unwrap().unwrap();
    let mut reader = Opencode::default();
    let mut events = Vec::new();
    for session in database.sessions().unwrap() {
        assert_eq!(session.directory, "/home/me/work");
        for part in database.parts(&session).unwrap() {
            let row = database.part(part).unwrap().unwrap();
            reader.read(&session, &row, &mut events).unwrap();
        }
    }
    let events: Vec<_> = events.iter().map(shown).collect();
    let begun = r#"bash (Execute) {"command":"cat key.txt"}"#;
    let expected = [
        r#"prompt ["print the key"]"#,
        "used m 9 4 2 1",
        &format!("BeforeTool {begun} []"),
        &format!(r#"AfterTool {begun} ["the key"]"#),
    ];
    assert_eq!(events, expected);
    // A newer version has taken them into its database.
    fs::write(data.join("opencode.db"), "").unwrap();
    let recordings = found(Format::Opencode, folder.path());
    assert!(recordings.len() == 1 && recordings[0].path.ends_with("opencode.db"));
    fs::write(data.join("storage/session/p/ses_1.json"), "[]").unwrap();
    let path = data.join("storage/session/p/ses_1.json");
    assert!(Database::open(&path).unwrap().is_none());
}

#[test]
fn a_database_that_nobody_has_open_gets_no_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("100% ä?#");
    fs::create_dir(&data).unwrap();
    let path = data.join("opencode.db");
    let sql = fs::read_to_string(home("opencode-1.18.33").join("opencode.sql")).unwrap();
    let made = Connection::open(&path).unwrap();
    made.execute_batch(&sql).unwrap();
    made.pragma_update(None, "journal_mode", "WAL").unwrap();
    drop(made);
    let database = Database::open(&path).unwrap().unwrap();
    assert!(!database.sessions().unwrap().is_empty());
    drop(database);
    assert_eq!(fs::read_dir(data).unwrap().count(), 1);
}

#[test]
fn a_database_of_others_is_none_of_opencode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let made = Connection::open(&path).unwrap();
    let views =
        "CREATE TABLE session (id); CREATE TABLE message (id); CREATE VIEW part AS SELECT 1";
    made.execute_batch(views).unwrap();
    assert!(Database::open(&path).unwrap().is_none());
    fs::write(&path, "this is no database, and no text of a query either").unwrap();
    assert!(Database::open(&path).is_err());
}
