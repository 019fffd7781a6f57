//! Version 2 of the protocol.

use super::*;

fn host_of_version_2(config: Value) -> Host {
    let mut host = host(config);
    let version = json!({ "protocolVersion": 2 });
    let id = host.request(Peer::Client, "initialize", &version);
    host.answer(id, &version);
    seen(&mut host);
    host
}

/// The agent confirms a prompt, and reports that it is in this state.
fn confirm(host: &mut Host, prompt: MessageId) {
    host.answer(prompt, json!({}));
    state(host, &json!({ "state": "running" }));
}

fn state(host: &mut Host, state: &Value) {
    let mut changed = json!({ "sessionUpdate": "state_update" });
    changed["state"] = state["state"].clone();
    changed["usage"] = state["usage"].clone();
    update(host, &changed);
}

#[test]
fn a_turn_ends_when_the_agent_is_idle() {
    let mut host = host_of_version_2(json!({ "turn": { "tool-calls": 1 } }));
    for number in 1..=3 {
        let prompt = begin(&mut host);
        confirm(&mut host, prompt);
        run(&mut host, number);
        assert_eq!(seen(&mut host).passed.len(), 1);
        state(&mut host, &json!({ "state": "idle" }));
    }
    let prompt = begin(&mut host);
    confirm(&mut host, prompt);
    run(&mut host, 4);
    run(&mut host, 5);
    let asked = question(&mut host);
    assert!(asked.get::<String>("/title").is_some());
    assert_eq!(asked.at("/toolCall"), Value::Null);
}

#[test]
fn tokens_are_reported_when_the_agent_is_idle_and_once() {
    let mut host = host_of_version_2(json!({ "session": { "tokens": 10 } }));
    let prompt = begin(&mut host);
    confirm(&mut host, prompt);
    let idle = json!({ "state": "idle", "usage": { "totalTokens": 6, "inputTokens": 6, "outputTokens": 0 } });
    state(&mut host, &idle);
    state(&mut host, &idle);
    begin(&mut host);
}

#[test]
fn what_the_agent_begins_by_itself_is_a_turn() {
    let mut host = host_of_version_2(json!({ "turn": { "tool-calls": 1, "action": "stop" } }));
    state(&mut host, &json!({ "state": "running" }));
    mention(&mut host, 1);
    assert_eq!(seen(&mut host).stops, 0);
    mention(&mut host, 2);
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(after.told.contains("the turn is stopped"));
}

#[test]
fn a_prompt_that_is_not_sent_is_an_error_with_the_reason() {
    let mut host = host_of_version_2(json!({ "session": { "tool-calls": 1, "action": "stop" } }));
    let first = begin(&mut host);
    confirm(&mut host, first);
    run(&mut host, 1);
    state(&mut host, &json!({ "state": "idle" }));
    seen(&mut host);
    prompt(&mut host);
    let mut after = seen(&mut host);
    let answer = after.answers.remove(0).body.expect_err("an error");
    assert!(
        answer
            .message
            .contains("the limit of 1 tool call for a session"),
        "{answer}"
    );
}
