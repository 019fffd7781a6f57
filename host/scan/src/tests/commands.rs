//! The commands in the recordings of real agents.

use std::fs;

use rusqlite::Connection;

use super::{found, home};
use crate::find::Recording;
use crate::format::Format;
use crate::{Unreadable, commands};

const CAT: &str = r#"{"command":"cat key.txt"}"#;
const CAT_BY_PATH: &str = r#"{"command":"cat /home/me/work/key.txt"}"#;
const LIST: &str = r#"{"command":"ls -la"}"#;
const PUSH: &str = r#"{"command":"git push --force origin main"}"#;

/// The inputs of tools in these recordings that ran commands, by name.
fn inputs(recordings: &[Recording]) -> Vec<String> {
    let mut inputs = Vec::new();
    for recording in recordings {
        let mut last = 0;
        let mut take = |number: u64, input: &str| {
            assert!(number >= last, "{input}");
            last = number;
            inputs.push(input.to_owned());
        };
        commands(recording, &mut take).expect("it can be read");
    }
    inputs.sort();
    inputs
}

#[test]
fn each_command_is_taken_once_and_no_other_call() {
    for (format, version, expected) in [
        (
            Format::Claude,
            "claude-agent-acp-0.101.0",
            &[CAT, PUSH, LIST][..],
        ),
        (
            Format::Claude,
            "claude-agent-acp-0.49.0",
            &[CAT, PUSH, LIST],
        ),
        (Format::Codex, "codex-acp-0.16.0", &[CAT_BY_PATH, CAT, PUSH]),
        (
            Format::Codex,
            "codex-acp-2.6.0",
            &[CAT_BY_PATH, CAT_BY_PATH, CAT, CAT, PUSH, PUSH],
        ),
        (Format::Gemini, "gemini-cli-0.61.0", &[CAT, PUSH]),
    ] {
        let recordings = found(format, &home(version));
        assert_eq!(inputs(&recordings), expected, "{version}");
    }
}

#[test]
fn those_of_a_database_are_taken_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let sql = fs::read_to_string(home("opencode-1.18.33").join("opencode.sql")).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
    let recording = Recording::of(Format::Opencode, &path).unwrap();
    assert_eq!(inputs(&[recording]), [CAT, PUSH]);
    fs::write(&path, "").unwrap();
    let recording = Recording::of(Format::Opencode, &path).unwrap();
    let read = commands(&recording, &mut |_, input| panic!("{input}"));
    assert!(matches!(read, Err(Unreadable::NoDatabase)), "{read:?}");
}
