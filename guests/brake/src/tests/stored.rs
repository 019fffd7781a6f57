//! The budgets of days and projects.

use acp_chain_proxy::values::Keeper;

use super::*;

/// The stored account of the day.
fn day(host: &Host) -> Value {
    let values = host.values(Keeper::User);
    serde_json::from_str(&values["day"]).expect("JSON")
}

/// How many calls the stored account of the day has.
fn calls(host: &Host) -> Value {
    day(host)["account"]["spent"][2].clone()
}

/// Another editor stores that so many calls were made on a day.
fn put(host: &mut Host, day: &str, calls: u64) {
    let account = json!({ "spent": [0, 0, calls, 0], "raises": [0, 0, 0, 0] });
    let record = json!({ "day": day, "account": account }).to_string();
    host.put_value(Keeper::User, "day", Some(&record));
}

/// Begins another connection of the same user.
fn reconnect(host: &mut Host) {
    host.reconnect().expect("right");
    begin(host);
}

#[test]
fn a_budget_of_a_day_outlasts_the_connection() {
    let mut host = host(json!({ "day": { "tool-calls": 3, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    reconnect(&mut host);
    run(&mut host, 2);
    run(&mut host, 3);
    assert_eq!(seen(&mut host).passed.len(), 2);
    run(&mut host, 4);
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
    assert_eq!(calls(&host), 3);
    host.reconnect().expect("right");
    prompt(&mut host);
    let after = seen(&mut host);
    assert!(after.prompts.is_empty(), "{after:?}");
    assert!(
        after.told.contains("the limit of 3 tool calls for a day"),
        "{after:?}"
    );
}

#[test]
fn what_another_editor_has_spent_counts() {
    let mut host = host(json!({ "day": { "tool-calls": 3, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    seen(&mut host);
    put(&mut host, "2026-03-01", 3);
    run(&mut host, 2);
    assert_eq!(seen(&mut host).refused.len(), 1);
}

#[test]
fn a_yes_holds_for_all_editors_and_for_the_day() {
    let mut host = host(json!({ "day": { "tool-calls": 1 } }));
    begin(&mut host);
    run(&mut host, 1);
    run(&mut host, 2);
    let asked = question(&mut host);
    answer(&mut host, &asked, "go-on");
    assert_eq!(seen(&mut host).passed.len(), 1);
    host.reconnect().expect("right");
    prompt(&mut host);
    let title: String = question(&mut host).get("/toolCall/title").expect("a title");
    assert!(
        title.contains("the limit of 2 tool calls for a day"),
        "{title}"
    );
}

#[test]
fn another_day_begins_anew_and_a_clock_that_goes_back_does_not() {
    let mut host = host(json!({ "day": { "tool-calls": 1, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    set_time(&mut host, NOON + DAY);
    reconnect(&mut host);
    run(&mut host, 2);
    assert_eq!(seen(&mut host).passed.len(), 1);
    assert_eq!(day(&host)["day"], "2026-03-02");
    for back in [NOON, NOON - DAY, 0] {
        set_time(&mut host, back);
        host.reconnect().expect("right");
        prompt(&mut host);
        assert!(seen(&mut host).prompts.is_empty());
        assert_eq!(day(&host)["day"], "2026-03-02");
    }
}

#[test]
fn a_day_is_that_of_the_user() {
    for (offset, day_there) in [
        (0, "2026-03-01"),
        (12 * 60, "2026-03-02"),
        (-13 * 60, "2026-02-28"),
    ] {
        let mut host = host(json!({ "day": { "tool-calls": 9 }, "utc-offset": offset }));
        begin(&mut host);
        assert_eq!(day(&host)["day"], day_there);
    }
}

#[test]
fn a_project_has_a_budget_of_its_own_that_no_day_ends() {
    let mut host = host(json!({ "project": { "tool-calls": 1, "action": "stop" } }));
    begin(&mut host);
    run(&mut host, 1);
    assert!(host.values(Keeper::Project("s")).contains_key("project"));
    set_time(&mut host, NOON + 9 * DAY);
    host.reconnect().expect("right");
    prompt(&mut host);
    assert!(seen(&mut host).prompts.is_empty());
    // The fake host has a project for each session.
    let other = json!({ "sessionId": "other", "prompt": [] });
    host.request(Peer::Client, PROMPT, other);
    assert_eq!(seen(&mut host).prompts.len(), 1);
}

#[test]
fn time_and_reports_are_stored_too() {
    let mut host = host(json!({ "day": { "minutes": 9, "tokens": 100 } }));
    let turn = begin(&mut host);
    host.elapse(Duration::from_secs(30));
    let usage = json!({ "totalTokens": 7, "inputTokens": 6, "outputTokens": 1 });
    host.answer(turn, json!({ "stopReason": "end_turn", "usage": usage }));
    assert_eq!(day(&host)["account"]["spent"], json!([7, 0, 0, 30]));
}

#[test]
fn without_such_limits_nothing_is_stored() {
    let mut host = host(json!({ "session": { "tokens": 100 } }));
    begin(&mut host);
    run(&mut host, 1);
    assert!(host.values(Keeper::User).is_empty());
}

#[test]
fn the_user_learns_that_a_budget_is_new() {
    let notice = " on: nothing is stored from before, or it was removed";
    let mut host = host(json!({ "day": { "tool-calls": 9 } }));
    prompt(&mut host);
    let told = seen(&mut host).told;
    assert!(
        told.contains(&format!("the budget of the day counts from now{notice}")),
        "{told}"
    );
    // The fake host has had values since the 1st of January.
    host.reconnect().expect("right");
    prompt(&mut host);
    assert!(!seen(&mut host).told.contains(notice));
    set_time(&mut host, 1_767_225_600 + HOUR);
    host.reconnect().expect("right");
    prompt(&mut host);
    let told = seen(&mut host).told;
    assert!(
        told.contains("counts from 2026-01-01T") && told.contains(notice),
        "{told}"
    );
}

#[test]
fn the_user_learns_that_a_budget_of_another_project_is_new() {
    let notice = "the budget of the project counts from now on";
    let mut host = host(json!({ "project": { "tool-calls": 9 } }));
    begin(&mut host);
    // The fake host has a project for each session.
    let other = json!({ "sessionId": "other", "prompt": [] });
    for is_told in [true, false] {
        host.request(Peer::Client, PROMPT, &other);
        assert_eq!(seen(&mut host).told.contains(notice), is_told);
    }
}

#[test]
fn the_user_learns_that_a_budget_was_removed_meanwhile() {
    let notice = "the budget of the day was removed, and counts anew";
    let mut host = host(json!({ "day": { "tool-calls": 9 } }));
    begin(&mut host);
    run(&mut host, 1);
    assert!(!seen(&mut host).told.contains(notice));
    host.put_value(Keeper::User, "day", None);
    run(&mut host, 2);
    assert!(seen(&mut host).told.contains(notice));
    run(&mut host, 3);
    assert!(!seen(&mut host).told.contains(notice));
    assert_eq!(calls(&host), 2);
}

#[test]
fn a_budget_that_cannot_be_stored_stops_everything() {
    let mut host = host(json!({ "day": { "tool-calls": 9 } }));
    let turn = begin(&mut host);
    host.refuse_values("disk full");
    run(&mut host, 1);
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
    assert!(after.refused[0].contains("the budget of the day cannot be counted: disk full"));
    end(&mut host, turn);
    seen(&mut host);
    prompt(&mut host);
    let after = seen(&mut host);
    assert!(
        after.prompts.is_empty() && after.told.contains("disk full"),
        "{after:?}"
    );
    host.accept_values();
    begin(&mut host);
}

#[test]
fn the_agent_goes_on_without_a_budget_if_the_user_says_so() {
    let config =
        json!({ "day": { "tool-calls": 1 }, "turn": { "tool-calls": 2 }, "go-on-unstored": true });
    let mut host = host(config);
    host.refuse_values("disk full");
    prompt(&mut host);
    let after = seen(&mut host);
    assert_eq!(after.prompts.len(), 1);
    assert!(
        after
            .told
            .contains("the budget of the day does not hold: disk full"),
        "{after:?}"
    );
    run(&mut host, 1);
    run(&mut host, 2);
    assert_eq!(seen(&mut host).passed.len(), 2);
    // Other limits hold.
    run(&mut host, 3);
    question(&mut host);
}

#[test]
fn an_account_in_an_unknown_form_is_an_error_and_stays() {
    let mut host = host(json!({ "day": { "tool-calls": 9 } }));
    host.put_value(Keeper::User, "day", Some("[]"));
    prompt(&mut host);
    let after = seen(&mut host);
    assert!(after.prompts.is_empty(), "{after:?}");
    assert_eq!(host.values(Keeper::User)["day"], "[]");
}
