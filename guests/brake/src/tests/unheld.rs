//! Calls of agents without hooks, which cannot be held.

use super::*;

#[test]
fn calls_are_counted_when_they_are_first_mentioned() {
    let mut host = host(json!({ "turn": { "tool-calls": 2, "action": "stop" } }));
    begin(&mut host);
    mention(&mut host, 1);
    let request = json!({
        "sessionId": "s", "toolCall": { "toolCallId": "c2", "title": "Bash", "kind": "execute" },
        "options": [{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }],
    });
    host.request(Peer::Agent, PERMISSION, request);
    // These are calls that were mentioned before.
    mention(&mut host, 1);
    mention(&mut host, 2);
    let done =
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed" });
    update(&mut host, &done);
    assert_eq!(seen(&mut host).stops, 0);
    mention(&mut host, 3);
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(after.told.contains("3 tool calls"), "{after:?}");
}

#[test]
fn while_the_user_is_asked_the_agent_may_go_on_as_far_as_a_yes_would_let_it() {
    let mut host = host(json!({ "turn": { "tool-calls": 2 } }));
    begin(&mut host);
    for number in 1..=3 {
        mention(&mut host, number);
    }
    let asked = question(&mut host);
    mention(&mut host, 4);
    assert_eq!(seen(&mut host).stops, 0);
    for number in 5..=6 {
        mention(&mut host, number);
    }
    assert_eq!(seen(&mut host).stops, 1);
    // Too late.
    answer(&mut host, &asked, "go-on");
    assert_eq!(seen(&mut host).stops, 0);
}

#[test]
fn a_call_that_is_mentioned_before_its_hook_is_counted_once() {
    let mut host = host(json!({ "turn": { "tool-calls": 2 } }));
    begin(&mut host);
    for number in 1..=2 {
        mention(&mut host, number);
        run(&mut host, number);
    }
    assert_eq!(seen(&mut host).passed.len(), 2);
    mention(&mut host, 3);
    assert!(seen(&mut host).questions.is_empty());
    run(&mut host, 3);
    question(&mut host);
}

#[test]
fn a_turn_of_an_agent_with_hooks_is_not_stopped_by_what_it_shows() {
    let mut host = host(json!({ "turn": { "tool-calls": 1, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    for number in 1..=9 {
        mention(&mut host, number);
    }
    assert_eq!(seen(&mut host).stops, 0);
}

#[test]
fn an_old_session_that_is_replayed_counts_nothing() {
    let mut host = host(json!({ "session": { "tool-calls": 1 } }));
    for number in 1..=9 {
        mention(&mut host, number);
    }
    begin(&mut host);
    mention(&mut host, 10);
    assert!(seen(&mut host).questions.is_empty());
}

#[test]
fn an_old_question_does_not_hold_the_next_turn() {
    let mut host = host(json!({ "turn": { "tool-calls": 1 } }));
    let turn = begin(&mut host);
    for number in 1..=2 {
        mention(&mut host, number);
    }
    question(&mut host);
    end(&mut host, turn);
    seen(&mut host);
    begin(&mut host);
    mention(&mut host, 3);
    assert!(seen(&mut host).questions.is_empty());
}

#[test]
fn an_id_that_the_agent_gives_again_is_counted_again() {
    let mut host = host(json!({ "turn": { "tool-calls": 2, "action": "stop" } }));
    begin(&mut host);
    let done =
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed" });
    for stops in [0, 0, 1] {
        mention(&mut host, 1);
        update(&mut host, &done);
        assert_eq!(seen(&mut host).stops, stops);
    }
}

/// By updates alone, which say only that it runs again.
#[test]
fn an_id_that_runs_again_after_its_end_is_counted_again() {
    let mut host = host(json!({ "turn": { "tool-calls": 2, "action": "stop" } }));
    begin(&mut host);
    for stops in [0, 0, 1] {
        for status in ["in_progress", "completed"] {
            let run = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": status });
            update(&mut host, &run);
        }
        assert_eq!(seen(&mut host).stops, stops);
    }
}

#[test]
fn a_call_whose_id_is_no_text_is_counted() {
    for id in [json!(7), json!(null), json!("")] {
        let mut host = host(json!({ "turn": { "tool-calls": 1, "action": "stop" } }));
        begin(&mut host);
        let mut shown =
            json!({ "sessionUpdate": "tool_call", "title": "Bash", "status": "pending" });
        shown["toolCallId"] = id;
        update(&mut host, &shown);
        assert_eq!(seen(&mut host).stops, 0);
        if shown["toolCallId"] == 7 {
            shown["toolCallId"] = json!(8);
        }
        update(&mut host, &shown);
        assert_eq!(seen(&mut host).stops, 1);
    }
}

/// As in a version whose hooks leave some tools out, and with tools that the model's provider runs.
#[test]
fn a_call_that_has_run_without_its_hook_is_counted_at_its_end() {
    let mut host = host(json!({ "turn": { "tool-calls": 2, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    let ended = |host: &mut Host, number: usize, status: &str| {
        let id = format!("c{number}");
        let done =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
        update(host, &done);
    };
    // It is counted already; one that was refused has not run.
    mention(&mut host, 1);
    ended(&mut host, 1, "completed");
    mention(&mut host, 2);
    ended(&mut host, 2, "failed");
    mention(&mut host, 3);
    ended(&mut host, 3, "completed");
    assert_eq!(seen(&mut host).stops, 0);
    mention(&mut host, 4);
    assert_eq!(seen(&mut host).stops, 0);
    // A command that exits with an error has run, too.
    let done = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c4",
        "status": "completed", "rawOutput": { "exit_code": 2 },
    });
    update(&mut host, &done);
    assert_eq!(seen(&mut host).stops, 1);
}

#[test]
fn a_no_after_the_turn_stops_no_other_turn() {
    let mut host = host(json!({ "turn": { "tool-calls": 1 } }));
    let first = begin(&mut host);
    run(&mut host, 1);
    run(&mut host, 2);
    let asked = question(&mut host);
    end(&mut host, first);
    begin(&mut host);
    answer(&mut host, &asked, "stop");
    assert_eq!(seen(&mut host).stops, 0);
}
