//! What agents report of what they use.

use super::*;

/// A turn of which the agent reports this.
fn turn(host: &mut Host, usage: &Value) {
    let turn = begin(host);
    host.answer(turn, json!({ "stopReason": "end_turn", "usage": usage }));
}

fn tokens(total: u64) -> Value {
    json!({ "totalTokens": total, "inputTokens": total, "outputTokens": 0 })
}

/// The agent reports the cost of the session so far, as it is spelt.
fn cost(host: &mut Host, amount: &str) {
    let amount: Value = serde_json::from_str(amount).expect("a number");
    let cost = json!({ "amount": amount, "currency": "USD" });
    let reported = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost });
    update(host, &reported);
}

/// What was spent in the session, by the text of the question that the next prompt causes.
fn spent(host: &mut Host) -> String {
    prompt(host);
    let asked = question(host);
    let title: String = asked.get("/toolCall/title").expect("a title");
    let (_, spent) = title.split_once("this session: ").expect("what was spent");
    spent.split(". Go on").next().unwrap_or_default().to_owned()
}

#[test]
fn tokens_of_turns_add_up() {
    let mut host = host(json!({ "session": { "tokens": 100 } }));
    turn(&mut host, &tokens(60));
    turn(&mut host, &tokens(50));
    assert_eq!(spent(&mut host), "110 tokens");
}

#[test]
fn tokens_without_a_total_are_summed_and_a_total_is_at_least_its_parts() {
    for (usage, total) in [
        (
            json!({ "inputTokens": 5, "outputTokens": 6, "thoughtTokens": 7 }),
            18,
        ),
        (
            json!({ "totalTokens": 1, "inputTokens": 5, "outputTokens": 6 }),
            11,
        ),
        (
            json!({ "totalTokens": 20, "inputTokens": 5, "outputTokens": null }),
            20,
        ),
    ] {
        let mut host = host(json!({ "session": { "tokens": 1 } }));
        turn(&mut host, &usage);
        assert_eq!(spent(&mut host), format!("{total} tokens"));
    }
}

#[test]
fn tokens_are_found_where_gemini_puts_them() {
    let mut host = host(json!({ "session": { "tokens": 1 } }));
    let turn = begin(&mut host);
    let count = json!({ "input_tokens": 30, "output_tokens": 4 });
    let meta = json!({ "quota": { "token_count": count, "model_usage": [] } });
    host.answer(turn, json!({ "stopReason": "end_turn", "_meta": meta }));
    assert_eq!(spent(&mut host), "34 tokens");
}

#[test]
fn negative_and_malformed_numbers_are_ignored_and_endless_ones_reach_the_limit() {
    let mut host = host(json!({ "session": { "tokens": 100, "cost": 1.0 } }));
    let odd =
        json!({ "totalTokens": -5, "inputTokens": "7", "outputTokens": [], "thoughtTokens": -0.0 });
    turn(&mut host, &odd);
    begin(&mut host);
    cost(&mut host, "-3");
    assert!(seen(&mut host).questions.is_empty());
    cost(&mut host, "1e300");
    let asked = question(&mut host);
    answer(&mut host, &asked, "go-on");
    cost(&mut host, "1e301");
    let after = seen(&mut host);
    assert_eq!((after.questions.len(), after.stops), (0, 0), "{after:?}");
}

#[test]
fn reports_that_only_grow_are_sums_and_one_that_shrinks_proves_that_they_are_not() {
    let mut host = host(json!({ "session": { "tokens": 1, "action": "tell" } }));
    let mut told = |total: u64| {
        turn(&mut host, &tokens(total));
        seen(&mut host).told
    };
    // Three are counted as they are: 10 + 20 + 30.
    for (total, sum) in [(10, 10), (20, 30), (30, 60)] {
        assert!(told(total).contains(&format!("this session: {sum} tokens")));
    }
    // The fourth is one of a sum, which has grown by 10.
    assert!(told(40).contains("this session: 70 tokens"));
    // What was left out of it is added: 70 + 30 + 5.
    assert!(told(5).contains("this session: 105 tokens"));
    assert!(told(6).contains("this session: 111 tokens"));
}

#[test]
fn cost_is_that_of_the_session_so_far_and_reaches_the_limit_within_a_turn() {
    let mut host = host(json!({ "session": { "cost": 1.0, "action": "stop" } }));
    begin(&mut host);
    for amount in ["0.25", "0.5", "0.5", "0.99"] {
        cost(&mut host, amount);
    }
    assert_eq!(seen(&mut host).stops, 0);
    cost(&mut host, "1.25");
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(after.told.contains("this session: 1.25 USD"), "{after:?}");
}

#[test]
fn cost_before_the_first_prompt_is_that_of_the_history() {
    let mut host = host(json!({ "session": { "cost": 1.0, "action": "stop" } }));
    cost(&mut host, "7.5");
    begin(&mut host);
    cost(&mut host, "8.0");
    assert_eq!(seen(&mut host).stops, 0);
    cost(&mut host, "8.5");
    assert_eq!(seen(&mut host).stops, 1);
}

#[test]
fn cost_that_shrinks_gives_nothing_back_and_counts_again_if_the_agent_does() {
    let mut host = host(json!({ "session": { "cost": 6.5, "action": "stop" } }));
    begin(&mut host);
    for amount in ["4", "3.5", "4", "0", "4"] {
        cost(&mut host, amount);
    }
    // The agent counts from the start: 4 + 1 + 1.
    cost(&mut host, "1");
    cost(&mut host, "2");
    assert_eq!(seen(&mut host).stops, 0);
    cost(&mut host, "2.5");
    let after = seen(&mut host);
    assert!(after.told.contains("this session: 6.50 USD"), "{after:?}");
}

#[test]
fn tokens_cost_what_the_user_says() {
    let prices = json!({ "input": 3.0, "output": 15.0, "cached-read": 0.5 });
    let mut host = host(json!({ "session": { "cost": 1.0 }, "prices": prices }));
    let usage = json!({
        "totalTokens": 1_400_000, "inputTokens": 100_000, "outputTokens": 100_000,
        "cachedReadTokens": 1_000_000, "cachedWriteTokens": 200_000,
    });
    turn(&mut host, &usage);
    // 0.3 + 1.5 + 0.5 + 0.6
    assert_eq!(spent(&mut host), "1400000 tokens, 2.90 USD");
}

#[test]
fn of_the_agents_cost_and_that_by_price_the_larger_one_counts() {
    let prices = json!({ "input": 1.0, "output": 1.0 });
    let mut host = host(json!({ "session": { "cost": 1.0 }, "prices": prices }));
    let turn = begin(&mut host);
    cost(&mut host, "0.5");
    host.answer(
        turn,
        json!({ "stopReason": "end_turn", "usage": tokens(2_000_000) }),
    );
    assert_eq!(spent(&mut host), "2000000 tokens, 2.00 USD");
}

#[test]
fn a_limit_of_a_turn_that_is_reached_at_its_end_is_told() {
    for action in ["tell", "ask", "stop"] {
        let mut host = host(json!({ "turn": { "tokens": 10, "action": action } }));
        turn(&mut host, &tokens(12));
        let after = seen(&mut host);
        assert!(after.told.contains("this turn: 12 tokens"), "{after:?}");
        assert_eq!((after.questions.len(), after.stops), (0, 0), "{after:?}");
        // Another turn has the limit again.
        turn(&mut host, &tokens(9));
        assert!(!seen(&mut host).told.contains("is reached"));
    }
}

#[test]
fn a_limit_of_a_turn_that_has_stopped_it_is_told_once() {
    let mut host = host(json!({ "turn": { "cost": 1.0, "action": "stop" } }));
    let turn = begin(&mut host);
    cost(&mut host, "1.5");
    assert_eq!(seen(&mut host).stops, 1);
    host.answer(
        turn,
        json!({ "stopReason": "cancelled", "usage": tokens(12) }),
    );
    assert!(!seen(&mut host).told.contains("was reported at its end"));
}

#[test]
fn the_user_learns_once_that_nothing_is_reported() {
    let notice = "the agent has not reported tokens or cost so far";
    let mut host = host(json!({ "session": { "tokens": 10 } }));
    prompt(&mut host);
    assert!(seen(&mut host).told.contains(notice));
    prompt(&mut host);
    assert!(!seen(&mut host).told.contains(notice));
    // The cost of an old session says nothing about what the agent will report.
    let mut host = super::host(json!({ "session": { "cost": 10.0 } }));
    cost(&mut host, "1");
    prompt(&mut host);
    assert!(
        seen(&mut host).told.contains(notice),
        "history counts nothing"
    );
    // Without such limits there is no notice.
    let mut host = super::host(json!({}));
    prompt(&mut host);
    assert_eq!(seen(&mut host).told, "");
}
