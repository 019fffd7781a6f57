//! What is recorded of the events of a chain.

use std::io::BufReader;
use std::num::NonZeroU64;
use std::path::Path;
use std::thread;
use std::time::SystemTime;

use serde_json::Value;

use acp_chain_recorder::{About, Content, Decision, Event, Line, Observer, Role, State};
use acp_chain_rpc::{Error, Message};

use crate::client::Client;
use crate::service::Start;
use crate::{LogError, Receipts, each, serve};

const CONNECTION: &str = "abc";

/// Records these events of a connection in this role. Returns the records between its beginning and its end.
fn records(role: Role, events: &[Event]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let (input, to_service) = std::io::pipe().unwrap();
    let (replies, to_client) = std::io::pipe().unwrap();
    let service = thread::spawn(move || serve(input, to_client).unwrap());
    let start = Start {
        folder: folder.path().to_owned(),
        keep: None,
    };
    let client = Client::start(to_service, BufReader::new(replies), &start).unwrap();
    let mut receipts = Receipts::new(client);
    let heading = Line {
        time: "2026-01-02T03:04:05Z".to_owned(),
        connection: CONNECTION.to_owned(),
        version: Some(1),
        role: Some(role),
        user: Some("ann@example.com".to_owned()),
        ..Line::default()
    };
    receipts.began(&heading, Some(r#"{"proxies":[]}"#)).unwrap();
    for event in events {
        receipts
            .happened(CONNECTION, SystemTime::now(), event)
            .unwrap();
        receipts
            .happened("unknown", SystemTime::now(), event)
            .unwrap();
    }
    receipts.ended(CONNECTION, SystemTime::now()).unwrap();
    receipts.settle().unwrap();
    drop(receipts);
    service.join().unwrap();
    let mut all = read(folder.path());
    let first = all.remove(0);
    assert_eq!(first["what"], "chain");
    assert_eq!(first["user"], "ann@example.com");
    assert_eq!(first["chain"]["proxies"], Value::Array(Vec::new()));
    assert_eq!(all.pop().unwrap()["what"], "end");
    all
}

fn read(folder: &Path) -> Vec<Value> {
    let mut all = Vec::new();
    each::<LogError>(folder, |entry| {
        all.push(serde_json::from_slice(&entry.text).unwrap());
        Ok(())
    })
    .unwrap();
    all
}

fn about(method: &str, request: Option<u64>) -> About {
    About {
        message: NonZeroU64::new(5),
        request,
        method: method.into(),
        session: Some("s1".into()),
    }
}

fn crossed(from: &str, to: &str, request: Option<u64>, method: &str, message: Message) -> Event {
    Event::Crossed {
        from: from.to_owned(),
        to: to.to_owned(),
        id: None,
        about: about(method, request),
        waited: None,
        message,
    }
}

fn decided(decision: Decision, method: &str, content: Option<Content>) -> Event {
    Event::Decided {
        proxy: "guard".to_owned(),
        decision,
        about: about(method, Some(7)),
        worked: None,
        held: None,
        why: Some("a secret reason".to_owned()),
        content: content.map(Box::new),
    }
}

const PERMISSION: &str = "session/request_permission";

fn question() -> Message {
    let params = concat!(
        r#"{"sessionId":"s1","#,
        r#""toolCall":{"toolCallId":"call-1","kind":"execute","title":"rm -rf hunter2"},"#,
        r#""options":[{"optionId":"o1","kind":"allow_once","name":"Yes"},"#,
        r#"{"optionId":"o2","kind":"reject_once","name":"No"}]}"#
    );
    Message::request(PERMISSION, params)
}

fn chosen(option: &str) -> Message {
    let result = format!(r#"{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}"#);
    Message::result(&result)
}

#[test]
fn a_question_and_its_answer_have_the_kinds_that_the_protocol_names() {
    let all = records(
        Role::Agent,
        &[
            crossed("agent", "guard", Some(7), PERMISSION, question()),
            decided(Decision::Forward, PERMISSION, None),
            crossed("guard", "client", Some(7), PERMISSION, question()),
            crossed("client", "guard", Some(7), PERMISSION, chosen("o2")),
            crossed("guard", "agent", Some(7), PERMISSION, chosen("o1")),
            crossed("client", "guard", Some(7), PERMISSION, chosen("o1")),
        ],
    );
    let of = |name: &str| -> Vec<_> { all.iter().map(|one| one[name].clone()).collect() };
    let texts = |texts: [&str; 6]| texts.map(Value::from).to_vec();
    assert_eq!(
        of("what"),
        texts([
            "request", "decision", "request", "answer", "answer", "answer"
        ])
    );
    assert_eq!(all[0]["call"], "call-1");
    assert_eq!(all[0]["kind"], "execute");
    assert_eq!(all[1]["decision"], "forward");
    assert_eq!(all[3]["outcome"], "reject_once");
    assert_eq!(all[4]["outcome"], "allow_once");
    // The agent has its answer: the options are forgotten.
    assert_eq!(all[5]["outcome"], "selected");
    assert_eq!(all[0]["content"], all[2]["content"]);
    assert_ne!(all[3]["content"], all[4]["content"]);
    assert_eq!(
        (&all[3]["request"], &all[3]["message"]),
        (&7.into(), &5.into())
    );
    let text = serde_json::to_string(&all).unwrap();
    assert!(
        !text.contains("hunter2") && !text.contains("secret reason"),
        "{text}"
    );
}

#[test]
fn what_a_proxy_changed_has_digests_of_before_and_after() {
    let update = |text: &str| Message::notification("session/update", text);
    let content = |after| {
        Some(Content {
            before: update(r#"{"a":1}"#),
            after,
        })
    };
    let all = records(
        Role::Proxy,
        &[
            decided(Decision::Forward, "session/update", None),
            decided(
                Decision::Change,
                "session/update",
                content(Some(update(r#"{"a":2}"#))),
            ),
            decided(
                Decision::Change,
                "session/update",
                content(Some(update(r#"{"a":1}"#))),
            ),
            decided(Decision::Discard, "session/update", content(None)),
            crossed("client", "guard", Some(7), PERMISSION, question()),
        ],
    );
    let decisions: Vec<_> = all.iter().map(|one| one["decision"].clone()).collect();
    assert_eq!(decisions, ["change", "change", "discard"]);
    assert_ne!(all[0]["before"], all[0]["after"]);
    assert_eq!(all[1]["before"], all[1]["after"]);
    assert_eq!(all[0]["before"], all[2]["before"]);
    assert_eq!(all[2]["after"], Value::Null);
}

#[test]
fn a_rule_that_answers_or_refuses_is_recorded_with_its_outcome() {
    let content = |after| {
        Some(Content {
            before: question(),
            after: Some(after),
        })
    };
    let refusal = Message::error(&Error::new(1, "no"));
    let hook = "_acp-chain/hook/before_tool";
    let all = records(
        Role::Agent,
        &[
            crossed("agent", "guard", Some(7), PERMISSION, question()),
            decided(Decision::Answer, PERMISSION, content(chosen("o1"))),
            decided(Decision::Refuse, hook, content(refusal)),
            decided(Decision::Forward, hook, None),
        ],
    );
    assert_eq!(all[1]["outcome"], "allow_once");
    assert_eq!(all[1]["call"], "call-1");
    assert_eq!(
        (&all[2]["decision"], &all[2]["outcome"]),
        (&"refuse".into(), &"error".into())
    );
    assert_eq!(all[3]["decision"], "forward");
}

#[test]
fn tool_calls_turns_and_stops_are_recorded_and_text_is_not() {
    let update = |params: &str| {
        let message = Message::notification("session/update", params);
        crossed("agent", "client", None, "session/update", message)
    };
    let prompt = Message::request("session/prompt", r#"{"sessionId":"s1","prompt":[]}"#);
    let stop = Message::notification("session/cancel", r#"{"sessionId":"s1"}"#);
    let ended = Message::result(r#"{"stopReason":"end_turn"}"#);
    let all = records(
        Role::Agent,
        &[
            crossed("client", "agent", Some(1), "session/prompt", prompt),
            update(r#"{"update":{"sessionUpdate":"agent_message_chunk"}}"#),
            update(
                r#"{"update":{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","status":"pending"}}"#,
            ),
            // However it is spelt.
            update(
                r#"{"update":{"sessionUpdate":"tool\u005fcall_update","toolCallId":"c","status":"failed"}}"#,
            ),
            update(r#"{"update":{"sessionUpdate":"tool_call","toolCallId":"=cmd|' /C calc'!A0"}}"#),
            crossed("client", "agent", None, "session/cancel", stop),
            crossed("agent", "client", Some(1), "session/prompt", ended),
        ],
    );
    let whats: Vec<_> = all.iter().map(|one| one["what"].clone()).collect();
    assert_eq!(whats, ["request", "tool", "tool", "tool", "stop", "answer"]);
    assert_eq!(
        (&all[1]["kind"], &all[1]["outcome"]),
        (&"edit".into(), &"pending".into())
    );
    assert_eq!(
        (&all[2]["call"], &all[2]["outcome"]),
        (&"c".into(), &"failed".into())
    );
    // What is no name is there as its digest.
    assert!(all[3]["call"].as_str().unwrap().starts_with('#'));
    assert_eq!(all[5]["outcome"], "end_turn");
}

#[test]
fn a_proxy_that_breaks_or_is_given_up_is_recorded() {
    let became = |state, why: Option<&str>| Event::Became {
        proxy: "guard".to_owned(),
        state,
        restarts: 0,
        memory: None,
        process: None,
        why: why.map(str::to_owned),
    };
    let all = records(
        Role::Proxy,
        &[
            became(State::Running, None),
            became(State::Failed, Some("a secret reason")),
            became(State::Ended, Some("a secret reason")),
            became(State::Ended, None),
        ],
    );
    let of = |name: &str| -> Vec<_> { all.iter().map(|one| one[name].clone()).collect() };
    assert_eq!(of("what"), ["decision", "decision"]);
    assert_eq!(of("proxy"), ["guard", "guard"]);
    assert_eq!(of("decision"), ["failed", "ended"]);
    assert_eq!(all[0].as_object().unwrap().len(), 5);
}

#[test]
fn each_stop_is_recorded_with_who_sent_it() {
    let stop = |from, to| {
        let message = Message::notification("session/cancel", r#"{"sessionId":"s1"}"#);
        crossed(from, to, None, "session/cancel", message)
    };
    let withdrawn = |from, to| {
        let message = Message::notification("$/cancel_request", r#"{"requestId":3}"#);
        crossed(from, to, Some(7), "$/cancel_request", message)
    };
    let all = records(
        Role::Agent,
        &[
            stop("client", "first"),
            stop("first", "second"),
            stop("guard", "agent"),
            withdrawn("client", "agent"),
            withdrawn("agent", "client"),
        ],
    );
    let of = |name: &str| -> Vec<_> { all.iter().map(|one| one[name].clone()).collect() };
    assert_eq!(of("what"), ["stop", "stop", "stop"]);
    assert_eq!(of("from"), ["client", "guard", "client"]);
    assert_eq!(all[2]["request"], 7);
}

#[test]
fn what_is_passed_over_leaves_no_record() {
    let update = |kind: &str| {
        let params = format!(r#"{{"update":{{"sessionUpdate":"{kind}","toolCallId":"c"}}}}"#);
        let message = Message::notification("session/update", &params);
        crossed("agent", "client", None, "session/update", message)
    };
    let notified = |from, to, method: &str| {
        crossed(from, to, None, method, Message::notification(method, "{}"))
    };
    let prompt = Message::request("session/prompt", r#"{"sessionId":"s1","prompt":[]}"#);
    let hook = "_acp-chain/hook/before_tool";
    let passes = |event: &Event| match event {
        Event::Crossed { about, message, .. } => {
            Receipts::passes_over(&about.method, message, None)
        }
        Event::Decided {
            decision, about, ..
        } => Receipts::passes_over(&about.method, &question(), Some(*decision)),
        _ => false,
    };
    for (event, expected) in [
        (update("agent_message_chunk"), true),
        (update("state_update"), true),
        (update("tool_call"), false),
        (notified("client", "agent", "_vendor/told"), true),
        (notified("client", "agent", "session/cancel"), false),
        (notified("client", "agent", "$/cancel_request"), false),
        (
            crossed("client", "agent", Some(1), "session/prompt", prompt),
            false,
        ),
        (decided(Decision::Forward, "session/update", None), true),
        (decided(Decision::Change, "session/update", None), false),
        (decided(Decision::Forward, PERMISSION, None), false),
        (decided(Decision::Forward, hook, None), false),
    ] {
        assert_eq!(passes(&event), expected, "{event:?}");
        let recorded = records(Role::Agent, std::slice::from_ref(&event));
        assert_eq!(recorded.is_empty(), expected, "{event:?}");
    }
}
