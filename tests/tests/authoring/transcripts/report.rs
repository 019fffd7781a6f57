//! Reports for CI systems, and repeatable results.

use std::fs;
use std::time::Duration;

use acp_chain::channel::Grant;
use acp_chain::sandbox::{Component, Engine, Guest};
use acp_chain_kit::transcript::{Script, Setup, Tested, play};
use acp_chain_tests::{host, powers};
use quick_junit::{Report, TestCaseStatus, XmlString};

use super::Folder;

#[tokio::test]
async fn a_report_of_junit_names_each_transcript_and_what_is_wrong_with_it() {
    let folder = Folder::of_shout(
        "client: p1 session/prompt {\"prompt\": [{\"type\": \"text\", \"text\": \"a & b\"}]}\n",
    );
    fs::write(
        folder.path("tests/good.transcript"),
        "[[proxy]]\nuse = 'redact'\n---\n",
    )
    .unwrap();
    let good = folder.transcript() + "agent gets: p1 session/prompt\n";
    fs::write(folder.path("tests/good.transcript"), good).unwrap();
    fs::write(folder.path("tests/no.transcript"), "\u{1b}").unwrap();
    let (code, text) = folder.test(&["--junit", "report.xml"]).await;
    assert_eq!(code, 2, "{text}");
    let report = fs::read(folder.path("report.xml")).unwrap();
    let report = Report::deserialize(&report[..]).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (3, 2, 0));
    let cases = &report.test_suites[0].test_cases;
    let cases = cases.iter().map(|case| {
        let wrong = match &case.status {
            TestCaseStatus::Success { .. } => None,
            TestCaseStatus::NonSuccess { description, .. } => description.as_ref(),
            TestCaseStatus::Skipped { .. } => panic!("none is skipped"),
        };
        (case.name.as_str(), wrong.map(XmlString::as_str))
    });
    let cases: Vec<_> = cases.collect();
    assert_eq!(cases[0], ("tests/good.transcript", None));
    let (name, wrong) = cases[1];
    assert_eq!(name, "tests/it.transcript");
    assert!(wrong.unwrap().contains(
        "+ agent gets: p1 session/prompt {\"prompt\": [{\"type\": \"text\", \"text\": \"A & B\"}]}"
    ));
    let (name, wrong) = cases[2];
    assert_eq!(name, "tests/no.transcript");
    assert!(
        wrong
            .unwrap()
            .contains("tests/no.transcript:1: `\\u{1b}` does not begin a line")
    );
}

/// A proxy with these powers.
fn tested(engine: &Engine, name: &str, powers: &[&str]) -> Tested {
    let component = Component::load(engine, &host::component(name)).unwrap();
    let grant = Grant::new(name, powers.iter().copied(), Vec::new()).unwrap();
    let mut guest = Guest::new(engine, component, name);
    guest.grant = grant.into();
    Tested {
        guest,
        on_failure: None,
    }
}

/// A proxy that discards each notification of one method and sends a notification of another method.
fn echo(engine: &Engine, name: &str, hears: &str, says: &str, to: &str) -> Tested {
    let component = Component::load(engine, &host::component("does")).unwrap();
    let tell = serde_json::json!({ "tell": { "to": to, "method": says, "params": {} } });
    let config = serde_json::json!({ "notifications": { hears: [tell, "discard"] } });
    let mut guest = Guest::new(engine, component, name);
    guest.grant = powers::grant(name).into();
    guest.config = config.to_string().into();
    Tested {
        guest,
        on_failure: None,
    }
}

#[test]
fn proxies_that_keep_each_other_busy_for_ever_end_a_transcript() {
    let engine = Engine::new(Some(&host::code_cache())).unwrap();
    let script = Script::read("client: test/ping\nclient: session/cancel\n").unwrap();
    let setup = Setup {
        proxies: vec![
            echo(&engine, "one", "test/ping", "test/pong", "agent"),
            echo(&engine, "two", "test/pong", "test/ping", "client"),
        ],
        longest: Some(Duration::from_millis(100)),
        ..Setup::default()
    };
    let played = play(&script, setup).unwrap();
    assert!(played.stopped().is_some());
    let [difference] = &played.differences(&script)[..] else {
        panic!("one difference")
    };
    let told = "! the chain does not become idle: its proxies keep sending messages";
    assert_eq!((difference.line, &*difference.lines[1]), (1, told));
}

#[test]
fn the_same_comes_of_a_transcript_each_time() {
    let engine = Engine::new(Some(&host::code_cache())).unwrap();
    let said = r#"
client: p1 session/prompt {"prompt": [{"type": "text", "text": "my key is AKIAIOSFODNN7EXAMPLQ"}]}
session b
client: p2 session/prompt {"sessionId": "b", "prompt": [{"type": "text", "text": "hello"}]}
agent calls: c1 words/count {"text": "to be"}
words-c fails
agent calls: c2 words-c/count {"text": "to be"}
words-c restarts
agent calls: c3 words-c/count {"text": "to be"}
agent: session/update {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "AK"}}}
after 1h
client: p1 cancel
client: session/cancel
"#;
    // There is no server `words`, so the agent cannot call it.
    let said = said.replace("agent calls: c1 words/count {\"text\": \"to be\"}\n", "");
    let script = Script::read(&said).unwrap();
    let play = || {
        let proxies = vec![
            tested(&engine, "words-c", &["tools"]),
            tested(&engine, "shout-rust", &["prompts.read", "prompts.change"]),
            tested(
                &engine,
                "redact",
                &[
                    "prompts.read",
                    "prompts.change",
                    "answers.read",
                    "answers.change",
                ],
            ),
        ];
        let setup = Setup {
            proxies,
            ..Setup::default()
        };
        play(&script, setup).unwrap().updated(&script)
    };
    let first = play();
    for expected in [
        "[redacted: aws-access-token]",
        "client gets: ",
        "\"words\": 2",
        "its test let it fail",
        "agent gets: p1 cancel",
    ] {
        assert!(first.contains(expected), "{expected}:\n{first}");
    }
    for _ in 1..100 {
        assert_eq!(play(), first);
    }
}
