use acp_chain_proxy::testing::{Host, SentKind};
use acp_chain_proxy::{Error, Level, Peer};
use serde_json::{Value, json};

use super::Shout;

/// The powers in the README.
const LEAST: &[&str] = &[
    "prompts.read",
    "prompts.change",
    "answers.read",
    "turns.read",
    "marks.add",
    "files.read",
];

fn host(config: Value) -> Host {
    let mut host = Host::start::<Shout>(config).expect("the configuration is right");
    host.powers(LEAST);
    host
}

fn prompt() -> Value {
    json!({ "sessionId": "s", "prompt": [
        { "type": "text", "text": "hi" },
        { "type": "image", "mimeType": "image/png", "data": "aGk=" },
    ] })
}

#[test]
fn text_is_upper_cased_and_nothing_else() {
    let mut host = host(json!({}));
    host.request(Peer::Client, "session/prompt", prompt());
    let sent = host.sent();
    let body = sent[0].body.as_ref().expect("goes on").to_string();
    assert_eq!(body, prompt().to_string().replace("hi", "HI"));
}

#[test]
fn the_file_is_read_while_the_prompt_is_held() {
    let mut host = host(json!({ "file": "/p/a.txt" }));
    let held = host.request(Peer::Client, "session/prompt", prompt());
    let asked = host.sent().remove(0);
    assert_eq!(
        (asked.to, asked.method.as_str()),
        (Peer::Client, "fs/read_text_file")
    );
    assert_eq!(
        asked.at(""),
        json!({ "sessionId": "s", "path": "/p/a.txt" })
    );
    assert_eq!(host.held(), [held]);

    host.answer(asked.id, json!({ "content": "from the file" }));
    assert_eq!(
        host.sent()[0].at("/prompt/2"),
        json!({ "type": "text", "text": "FROM THE FILE" })
    );
}

#[test]
fn a_file_that_cannot_be_read_is_left_out() {
    let mut host = host(json!({ "file": "/p/a.txt" }));
    for content in [None, Some(json!({}))] {
        host.request(Peer::Client, "session/prompt", prompt());
        let asked = host.sent().remove(0);
        match content {
            Some(result) => host.answer(asked.id, result),
            None => host.fail(asked.id, Error::new(-32002, "not found")),
        }
        assert_eq!(host.sent()[0].at("/prompt/2"), Value::Null);
        assert_eq!(host.log()[0].0, Level::Warn);
    }
}

#[test]
fn a_withdrawn_prompt_withdraws_the_reading() {
    let mut host = host(json!({ "file": "/p/a.txt" }));
    let held = host.request(Peer::Client, "session/prompt", prompt());
    let asked = host.sent().remove(0);
    host.cancel(held);
    let sent = host.sent();
    assert_eq!((sent[0].what, sent[0].id), (SentKind::Cancel, asked.id));
    assert_eq!(
        (sent[1].id, &sent[1].body),
        (held, &Err(Error::cancelled()))
    );

    host.fail(asked.id, Error::cancelled());
    assert!(host.sent().is_empty(), "the late answer is ignored");
}

#[test]
fn the_answer_tells_how_many_chunks_there_were() {
    let mut host = host(json!({}));
    for turn in [2, 1] {
        let prompt = host.request(Peer::Client, "session/prompt", prompt());
        for kind in ["agent_message_chunk", "plan"].repeat(turn) {
            let update = json!({ "sessionId": "s", "update": { "sessionUpdate": kind } });
            host.notify(Peer::Agent, "session/update", update);
        }
        let result = json!({ "_meta": { "other": 1 }, "stopReason": "end_turn" });
        host.answer(prompt, result);
        let meta = host.sent().last().expect("the answer").at("/_meta");
        assert_eq!(
            meta,
            json!({ "other": 1, "acp-chain/proxy": { "chunks": turn } })
        );
    }
}

#[test]
fn an_answer_without_meta_gets_one_and_an_error_ends_the_count_too() {
    let mut host = host(json!({}));
    let chunk = json!({ "sessionId": "s", "update": { "sessionUpdate": "agent_message_chunk" } });
    let failed = host.request(Peer::Client, "session/prompt", prompt());
    host.notify(Peer::Agent, "session/update", chunk);
    host.fail(failed, Error::new(1, "no"));
    for meta in [json!({}), json!({ "_meta": null })] {
        let prompt = host.request(Peer::Client, "session/prompt", prompt());
        host.answer(prompt, meta);
        let meta = host.sent().last().expect("the answer").at("/_meta");
        assert_eq!(meta, json!({ "acp-chain/proxy": { "chunks": 0 } }));
    }
}

#[test]
fn a_misspelt_key_is_named() {
    let error = Host::start::<Shout>(json!({ "fiel": "/a" })).expect_err("no such key");
    assert_eq!(
        error,
        "in its configuration: unknown field `fiel`, expected `file`"
    );
}
