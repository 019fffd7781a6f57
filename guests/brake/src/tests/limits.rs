//! Limits on tool calls that hooks report, and on time.

use super::*;

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

#[test]
fn calls_within_the_limit_run_and_the_next_one_waits_for_the_user() {
    let mut host = host(json!({ "turn": { "tool-calls": 2 } }));
    begin(&mut host);
    let passed = [run(&mut host, 1), run(&mut host, 2)];
    assert_eq!(seen(&mut host).passed, passed);
    let third = run(&mut host, 3);
    let asked = question(&mut host);
    assert_eq!(host.held(), [third]);
    let title = "proxy: the limit of 2 tool calls for a turn is reached; this turn: 2 tool calls. Go on, up to the \
                 same amount again?";
    assert_eq!(asked.at("/toolCall/title"), title);
    answer(&mut host, &asked, "go-on");
    assert_eq!(seen(&mut host).passed, [third]);
    run(&mut host, 4);
    assert_eq!(seen(&mut host).passed.len(), 1);
    run(&mut host, 5);
    question(&mut host);
}

#[test]
fn without_the_users_yes_the_call_is_refused_and_the_turn_stopped() {
    for option in ["stop", "other"] {
        let mut host = host(json!({ "turn": { "tool-calls": 1 } }));
        let turn = begin(&mut host);
        run(&mut host, 1);
        run(&mut host, 2);
        let asked = question(&mut host);
        answer(&mut host, &asked, option);
        let after = seen(&mut host);
        assert_eq!((after.stops, after.refused.len()), (1, 1), "{after:?}");
        assert!(after.refused[0].contains("the limit of 1 tool call for a turn"));
        // An agent that does not stop gets nothing more, and the user no question.
        run(&mut host, 3);
        let more = seen(&mut host);
        assert_eq!((more.stops, more.refused.len()), (0, 1), "{more:?}");
        end(&mut host, turn);
        seen(&mut host);
        // The next turn has the limit again.
        begin(&mut host);
        run(&mut host, 4);
        assert_eq!(seen(&mut host).passed.len(), 1);
    }
}

#[test]
fn a_yes_that_is_faster_than_a_person_is_a_no() {
    for (wait, passes) in [(399, false), (400, true)] {
        let mut host = Host::start::<Guard>(json!({ "turn": { "tool-calls": 1 } })).expect("right");
        host.powers(LEAST);
        begin(&mut host);
        run(&mut host, 1);
        run(&mut host, 2);
        let asked = question(&mut host);
        host.elapse(Duration::from_millis(wait));
        answer(&mut host, &asked, "go-on");
        let after = seen(&mut host);
        assert_eq!(after.passed.len(), usize::from(passes), "{after:?}");
        assert_eq!(after.stops, usize::from(!passes), "{after:?}");
        let is_told = after.told.contains("faster than a person can give it");
        assert_eq!(is_told, !passes, "{after:?}");
    }
}

#[test]
fn a_question_that_fails_is_a_no() {
    let mut host = host(json!({ "turn": { "tool-calls": 1 } }));
    begin(&mut host);
    run(&mut host, 1);
    run(&mut host, 2);
    let asked = question(&mut host);
    host.fail(
        asked.id,
        acp_chain_proxy::Error::new(-32601, "no such method"),
    );
    let after = seen(&mut host);
    assert_eq!((after.stops, after.refused.len()), (1, 1), "{after:?}");
}

#[test]
fn a_turn_is_stopped_and_the_next_prompt_answered_with_the_reason() {
    let mut host = host(json!({ "turn": { "tool-calls": 1, "action": "stop" } }));
    let turn = begin(&mut host);
    run(&mut host, 1);
    run(&mut host, 2);
    let after = seen(&mut host);
    assert_eq!((after.stops, after.refused.len()), (1, 1), "{after:?}");
    assert!(after.told.contains("the turn is stopped"), "{after:?}");
    assert!(after.questions.is_empty());
    host.answer(turn, json!({ "stopReason": "cancelled" }));
    seen(&mut host);
    prompt(&mut host);
    let answered = seen(&mut host);
    assert!(answered.prompts.is_empty(), "{answered:?}");
    assert_eq!(answered.answers[0].at("/stopReason"), "end_turn");
    let why = "the limit of 1 tool call for a turn is reached; this turn: 1 tool call";
    assert!(answered.told.contains(why), "{answered:?}");
    // The one after that is sent.
    begin(&mut host);
    run(&mut host, 3);
    assert_eq!(seen(&mut host).passed.len(), 1);
}

#[test]
fn the_user_is_notified_each_time_as_much_is_spent() {
    let mut host = host(json!({ "turn": { "tool-calls": 2, "action": "tell" } }));
    begin(&mut host);
    for number in 1..=5 {
        run(&mut host, number);
        let after = seen(&mut host);
        assert_eq!(after.passed.len(), 1, "{after:?}");
        let is_told = after.told.contains(&format!("the limit of {}", number - 1));
        assert_eq!(is_told, [3, 5].contains(&number), "{number}: {after:?}");
    }
}

#[test]
fn of_calls_side_by_side_only_as_many_run_as_the_limit_allows() {
    let mut host = host(json!({ "turn": { "tool-calls": 2 } }));
    begin(&mut host);
    let runs: Vec<_> = (1..=5).map(|number| run(&mut host, number)).collect();
    let mut after = seen(&mut host);
    assert_eq!(after.passed, runs[..2]);
    assert_eq!((after.questions.len(), host.held().len()), (1, 3));
    let asked = after.questions.remove(0);
    answer(&mut host, &asked, "go-on");
    let mut after = seen(&mut host);
    assert_eq!(after.passed, runs[2..4]);
    let asked = after.questions.remove(0);
    answer(&mut host, &asked, "stop");
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
    assert!(host.held().is_empty());
}

#[test]
fn a_call_that_is_withdrawn_lets_the_next_one_ask() {
    let mut host = host(json!({ "turn": { "tool-calls": 1 } }));
    begin(&mut host);
    run(&mut host, 1);
    let (second, third) = (run(&mut host, 2), run(&mut host, 3));
    question(&mut host);
    host.cancel(second);
    let asked = question(&mut host);
    answer(&mut host, &asked, "go-on");
    assert_eq!(seen(&mut host).passed, [third]);
}

#[test]
fn a_call_that_is_reported_again_is_counted_once() {
    let mut host = host(json!({ "turn": { "tool-calls": 1 } }));
    begin(&mut host);
    report(&mut host, Some("c1"), "make");
    report(&mut host, Some("c1"), "make all");
    assert_eq!(seen(&mut host).passed.len(), 2);
    run(&mut host, 2);
    question(&mut host);
}

#[test]
fn a_session_limit_holds_over_turns_and_the_next_prompt_waits_for_the_user() {
    for (option, passes) in [("go-on", true), ("stop", false)] {
        let mut host = host(json!({ "session": { "tool-calls": 2 } }));
        for number in 1..=2 {
            let turn = begin(&mut host);
            run(&mut host, number);
            end(&mut host, turn);
            seen(&mut host);
        }
        let next = prompt(&mut host);
        let asked = question(&mut host);
        assert_eq!(host.held(), [next]);
        answer(&mut host, &asked, option);
        let after = seen(&mut host);
        assert_eq!(after.prompts.len(), usize::from(passes), "{after:?}");
        assert_eq!(after.answers.len(), usize::from(!passes), "{after:?}");
        assert_eq!(after.stops, 0);
    }
}

#[test]
fn another_session_has_its_own_limit() {
    let mut host = host(json!({ "session": { "tool-calls": 1, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    seen(&mut host);
    let other = json!({ "sessionId": "other", "prompt": [] });
    host.request(Peer::Client, PROMPT, other);
    assert_eq!(seen(&mut host).prompts.len(), 1);
}

#[test]
fn sessions_that_only_the_agent_names_do_not_displace_one_of_the_user() {
    let mut host = host(json!({ "session": { "tool-calls": 1, "action": "stop" } }));
    let turn = begin(&mut host);
    run(&mut host, 1);
    end(&mut host, turn);
    for number in 0..600 {
        let used = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 });
        let params = json!({ "sessionId": format!("made up {number}"), "update": used });
        host.notify(Peer::Agent, UPDATE, params);
    }
    seen(&mut host);
    prompt(&mut host);
    let after = seen(&mut host);
    assert!(after.prompts.is_empty(), "{after:?}");
}

#[test]
fn time_is_counted_while_a_turn_runs_and_not_while_a_call_waits_for_the_user() {
    let mut host = host(json!({ "session": { "minutes": 2 } }));
    let turn = begin(&mut host);
    host.elapse(minutes(1));
    end(&mut host, turn);
    host.elapse(minutes(60));
    assert!(seen(&mut host).questions.is_empty());
    begin(&mut host);
    host.elapse(minutes(1));
    let asked = question(&mut host);
    let waiting = run(&mut host, 1);
    assert_eq!(host.held(), [waiting]);
    host.elapse(minutes(60));
    let meanwhile = seen(&mut host);
    assert_eq!((meanwhile.stops, meanwhile.questions.len()), (0, 0));
    answer(&mut host, &asked, "go-on");
    assert_eq!(seen(&mut host).passed, [waiting]);
    host.elapse(minutes(1));
    assert!(seen(&mut host).questions.is_empty());
    host.elapse(minutes(2));
    question(&mut host);
}

/// As where the user is away: nothing holds the agent, which works on.
#[test]
fn an_agent_that_works_on_while_the_user_is_asked_is_stopped_after_the_time_of_a_yes() {
    let mut host = host(json!({ "turn": { "minutes": 2 } }));
    begin(&mut host);
    host.elapse(minutes(2));
    question(&mut host);
    host.elapse(minutes(1));
    assert_eq!(seen(&mut host).stops, 0);
    host.elapse(minutes(1));
    assert_eq!(seen(&mut host).stops, 1);
}

#[test]
fn a_new_instance_goes_on_counting() {
    let mut host = host(json!({ "turn": { "tool-calls": 2, "minutes": 1 } }));
    begin(&mut host);
    run(&mut host, 1);
    seen(&mut host);
    host.restart().expect("restores the saved state");
    seen(&mut host);
    run(&mut host, 2);
    assert_eq!(seen(&mut host).passed.len(), 1);
    run(&mut host, 3);
    question(&mut host);
}

#[test]
fn a_limit_of_a_turn_is_generous_without_a_configuration() {
    let mut host = host(json!({}));
    begin(&mut host);
    for number in 0..500 {
        run(&mut host, number);
    }
    assert_eq!(seen(&mut host).passed.len(), 500);
    run(&mut host, 500);
    question(&mut host);
}

#[test]
fn of_a_session_only_what_differs_from_a_new_one_is_saved() {
    let mut host = host(json!({}));
    begin(&mut host);
    let saved = host.saved().expect("the turn");
    let expected = json!({ "was_prompted": true, "prompts": 1, "halted": null });
    assert_eq!(saved["sessions"]["s"], expected);
    run(&mut host, 1);
    let saved = host.saved().expect("the call");
    assert_eq!(saved["sessions"]["s"]["turn"]["spent"], json!([0, 0, 1, 0]));
}
