//! Each recording of `tests/recordings`, read to events.

use std::fmt::Write as _;
use std::fs;

use rusqlite::Connection;

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
