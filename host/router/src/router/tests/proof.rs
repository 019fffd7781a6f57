//! The agent's hooks must prove that they work: prompts wait for their sign of life, and a call without a report stops
//! its turn.

use std::sync::Arc;

use serde_json::json;

use super::super::signs::TIME;
use super::{PROMPT, Reaction, agent, client, received, scripted, update};
use crate::Proxy;
use crate::router::{FirstSign, HookOutcome, HookTerms, IfUnlike, Router};
use acp_chain_acp::BEFORE_TOOL;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_rpc::Message;

const NEW: &str =
    r#"{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/p","mcpServers":[]}}"#;
const PROMPTED: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}"#;
const STOP: &str = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;

fn terms() -> HookTerms {
    HookTerms {
        meta: None,
        first_sign: FirstSign::Session,
        signs_new: false,
        judges_failures: true,
        names_calls: true,
        tool_at: None,
        runs_no_hook: Box::new(|update| update.contains("hosted")),
        cleaned: Box::new(|line| line.contains("OURS ").then(|| line.replace("OURS ", ""))),
        unlike: Box::new(|answer| answer.contains("9.9.9").then(|| "it is 9.9.9".to_owned())),
        if_unlike: IfUnlike::Refuse,
        stops: true,
    }
}

fn attached(proxies: Vec<Proxy>, terms: HookTerms) -> Router {
    let mut router = Router::new(proxies, None);
    router.attach_hooks(terms);
    router
}

/// A router whose only session has begun.
fn begun(terms: HookTerms) -> Router {
    let mut router = attached(Vec::new(), terms);
    client(&mut router, NEW);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
    );
    received(&mut router, Peer::Client);
    received(&mut router, Peer::Agent);
    router
}

/// A router whose agent has a prompt.
fn prompted(terms: HookTerms) -> Router {
    let mut router = begun(terms);
    router.receive_sign_of_hooks(Some("s"));
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent), [PROMPTED]);
    router
}

fn report(router: &mut Router, number: u64, call: Option<&str>) {
    let call = call.map_or_else(String::new, |call| format!(r#""toolCallId":"{call}","#));
    let params =
        format!(r#"{{"sessionId":"s","toolCall":{{{call}"title":"Bash","rawInput":{{}}}}}}"#);
    router.receive_from_hook(number, Message::request(BEFORE_TOOL, &params));
    router.pump(1000);
}

/// An update about a call.
fn shows(router: &mut Router, session: &str, call: &str, rest: &str) {
    agent(
        router,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"tool_call_update","toolCallId":"{call}",{rest}}}}}}}"#
        ),
    );
}

/// The first update about a call.
fn begins_call(router: &mut Router, call: &str) {
    agent(
        router,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"{call}","title":"make"}}}}}}"#
        ),
    );
}

const COMPLETED: &str = r#""status":"completed","title":"make""#;
const FAILED: &str = r#""status":"failed""#;

/// Whether the turn was stopped since the last call, and the user told.
fn is_stopped(router: &mut Router) -> bool {
    let told = received(router, Peer::Client).concat();
    let told = told.contains("without its hook") || told.contains("before its hooks");
    let sent = received(router, Peer::Agent);
    assert!(sent.is_empty() || sent == [STOP], "{sent:?}");
    assert_eq!(told, !sent.is_empty());
    told
}

/// A router whose agent has said which version it is.
fn initialized(terms: HookTerms, version: &str) -> (Router, String) {
    let mut router = attached(Vec::new(), terms);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}"#,
    );
    let about = format!(r#""agentInfo":{{"name":"a","version":"{version}"}}"#);
    agent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1,{about}}}}}"#),
    );
    let answer = received(&mut router, Peer::Client).concat();
    received(&mut router, Peer::Agent);
    (router, answer)
}

#[test]
fn an_agent_that_says_to_be_another_one_gets_no_further_where_hooks_are_required() {
    let (_, answer) = initialized(terms(), "1.0.0");
    assert!(answer.contains("agentInfo"), "{answer}");
    let (mut router, answer) = initialized(terms(), "9.9.9");
    assert!(
        answer.contains(r#""error""#) && answer.contains("it is 9.9.9"),
        "{answer}"
    );
    // It goes on nevertheless.
    client(&mut router, NEW);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
    );
    router.receive_sign_of_hooks(Some("s"));
    received(&mut router, Peer::Agent);
    client(&mut router, PROMPT);
    assert!(received(&mut router, Peer::Agent).is_empty());
    let answer = received(&mut router, Peer::Client).concat();
    assert!(answer.contains("hooks do not work"), "{answer}");
}

#[test]
fn elsewhere_the_user_is_told_of_it_and_a_call_without_a_report_stops_nothing() {
    let terms = HookTerms {
        if_unlike: IfUnlike::Tell,
        ..terms()
    };
    let (mut router, answer) = initialized(terms, "9.9.9");
    assert!(answer.contains("agentInfo"), "{answer}");
    client(&mut router, NEW);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
    );
    router.receive_sign_of_hooks(Some("s"));
    received(&mut router, Peer::Agent);
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    shows(&mut router, "s", "c", COMPLETED);
    assert!(received(&mut router, Peer::Agent).is_empty());
    let told = received(&mut router, Peer::Client).concat();
    assert!(told.contains("it is 9.9.9"), "{told}");
}

#[test]
fn a_prompt_waits_for_a_sign_and_goes_on_with_it() {
    for (sign, passes) in [(Some("s"), true), (None, true), (Some("t"), false)] {
        let mut router = begun(terms());
        client(&mut router, PROMPT);
        assert!(received(&mut router, Peer::Agent).is_empty());
        router.receive_sign_of_hooks(sign);
        let sent = received(&mut router, Peer::Agent);
        assert_eq!(sent == [PROMPTED], passes, "{sent:?}");
        assert_eq!(router.next_timer().is_none(), passes);
    }
    // A report of a tool is a sign, too.
    let mut router = begun(terms());
    client(&mut router, PROMPT);
    report(&mut router, 1, None);
    assert_eq!(received(&mut router, Peer::Agent), [PROMPTED]);
}

#[test]
fn where_each_new_session_gives_a_sign_that_of_the_process_is_enough_only_for_others() {
    let mut router = begun(HookTerms {
        signs_new: true,
        ..terms()
    });
    router.receive_sign_of_hooks(None);
    client(&mut router, PROMPT);
    assert!(received(&mut router, Peer::Agent).is_empty());
    router.receive_sign_of_hooks(Some("s"));
    assert_eq!(received(&mut router, Peer::Agent), [PROMPTED]);
    // One that was there before gives none.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"l","method":"session/load","params":{"sessionId":"t","cwd":"/p","mcpServers":[]}}"#,
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    received(&mut router, Peer::Agent);
    client(
        &mut router,
        &PROMPT
            .replace(r#""s""#, r#""t""#)
            .replace(r#""p""#, r#""q""#),
    );
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
}

#[test]
fn a_prompt_without_a_sign_is_refused_after_a_while() {
    let mut router = begun(terms());
    client(&mut router, PROMPT);
    let due = router.next_timer().expect("a timer runs");
    router.advance(due);
    router.pump(1000);
    let [refused] = &received(&mut router, Peer::Client)[..] else {
        panic!("one answer");
    };
    assert!(
        refused.starts_with(r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32603"#),
        "{refused}"
    );
    assert!(refused.contains("`--hooks off`"), "{refused}");
    assert!(refused.contains(&format!("{} s", TIME.as_secs())));
    router.receive_sign_of_hooks(Some("s"));
    assert!(received(&mut router, Peer::Agent).is_empty());
    assert_eq!(router.next_timer(), None);
}

#[test]
fn hooks_that_were_not_tried_delay_only_the_first_prompts() {
    let mut router = begun(HookTerms {
        stops: false,
        ..terms()
    });
    client(&mut router, PROMPT);
    router.advance(router.next_timer().expect("a timer runs"));
    router.pump(1000);
    assert_eq!(received(&mut router, Peer::Agent), [PROMPTED]);
    let told = received(&mut router, Peer::Client).concat();
    assert!(told.contains("no sign of life"), "{told}");
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[test]
fn a_waiting_prompt_that_is_stopped_or_withdrawn_never_reaches_the_agent() {
    let stopped = r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"cancelled"}}"#;
    let cancelled =
        r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"Request cancelled"}}"#;
    let withdraw = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#;
    for (line, answer, sent) in [(STOP, stopped, vec![STOP]), (withdraw, cancelled, vec![])] {
        let mut router = begun(terms());
        client(&mut router, PROMPT);
        client(&mut router, line);
        assert_eq!(received(&mut router, Peer::Client), [answer]);
        router.receive_sign_of_hooks(Some("s"));
        assert_eq!(received(&mut router, Peer::Agent), sent);
        assert_eq!(router.next_timer(), None);
    }
}

#[test]
fn a_call_that_was_reported_passes_and_one_that_was_not_stops_the_turn() {
    let mut router = prompted(terms());
    shows(&mut router, "s", "a", r#""status":"pending""#);
    report(&mut router, 1, Some("a"));
    for rest in [COMPLETED, COMPLETED, FAILED] {
        shows(&mut router, "s", "a", rest);
    }
    shows(&mut router, "s", "b", r#""status":"in_progress""#);
    assert!(!is_stopped(&mut router));
    shows(&mut router, "s", "b", FAILED);
    assert!(is_stopped(&mut router));
    // Once.
    shows(&mut router, "s", "c", COMPLETED);
    assert!(!is_stopped(&mut router));
}

#[test]
fn a_call_with_the_id_of_an_earlier_one_needs_a_report_of_its_own() {
    let mut router = prompted(terms());
    for number in 1..=2 {
        report(&mut router, number, Some("a"));
        begins_call(&mut router, "a");
        shows(&mut router, "s", "a", COMPLETED);
    }
    // It may be shown before it is reported, and the end of the one before it after that.
    begins_call(&mut router, "a");
    report(&mut router, 3, Some("a"));
    report(&mut router, 4, Some("a"));
    shows(&mut router, "s", "a", COMPLETED);
    begins_call(&mut router, "a");
    shows(&mut router, "s", "a", COMPLETED);
    assert!(!is_stopped(&mut router));
    begins_call(&mut router, "a");
    shows(&mut router, "s", "a", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn a_call_with_the_id_of_one_in_the_history_needs_a_report() {
    let mut router = begun(terms());
    begins_call(&mut router, "a");
    shows(&mut router, "s", "a", COMPLETED);
    router.receive_sign_of_hooks(Some("s"));
    client(&mut router, PROMPT);
    received(&mut router, Peer::Agent);
    shows(&mut router, "s", "a", COMPLETED);
    assert!(!is_stopped(&mut router));
    begins_call(&mut router, "a");
    shows(&mut router, "s", "a", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn a_session_whose_hooks_do_not_work_takes_no_prompts_and_runs_no_tools() {
    let mut router = prompted(terms());
    shows(&mut router, "s", "b", COMPLETED);
    assert!(is_stopped(&mut router));
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    let refused = received(&mut router, Peer::Client).concat();
    assert!(
        refused.contains(r#""id":"q","error""#) && refused.contains("do not work"),
        "{refused}"
    );
    assert!(received(&mut router, Peer::Agent).is_empty());
    report(&mut router, 1, Some("c"));
    let [(1, HookOutcome::Refused(reason))] = &router.take_hook_outcomes()[..] else {
        panic!("it was not refused");
    };
    assert!(reason.contains("do not work"), "{reason}");
}

#[test]
fn hooks_that_were_not_tried_are_told_of_once() {
    let mut router = prompted(HookTerms {
        stops: false,
        ..terms()
    });
    let mut told = 0;
    for call in ["a", "b"] {
        shows(&mut router, "s", call, COMPLETED);
        let lines = received(&mut router, Peer::Client);
        told += lines
            .iter()
            .filter(|line| line.contains("without its hook"))
            .count();
        assert!(received(&mut router, Peer::Agent).is_empty());
    }
    assert_eq!(told, 1);
}

#[test]
fn where_the_agent_only_asks_nothing_waits_and_a_call_without_a_question_is_told_of_once() {
    let mut router = begun(HookTerms {
        first_sign: FirstSign::Never,
        judges_failures: false,
        stops: false,
        ..terms()
    });
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent), [PROMPTED]);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"asked"},"options":[]}}"#,
    );
    received(&mut router, Peer::Client);
    let mut told = |call, rest| {
        shows(&mut router, "s", call, rest);
        assert!(received(&mut router, Peer::Agent).is_empty());
        let lines = received(&mut router, Peer::Client).concat();
        lines.contains("without asking")
    };
    assert!(!told("asked", COMPLETED));
    assert!(!told("denied", FAILED));
    assert!(told("unasked", COMPLETED));
    assert!(!told("another", COMPLETED));
}

#[test]
fn a_proxy_that_loads_the_session_in_a_turn_hides_no_call() {
    let loads = scripted("loads", "go", |event, ledger| {
        if let Event::Message(_) = event {
            let params = r#"{"sessionId":"s","cwd":"/p","mcpServers":[]}"#;
            let asked = ledger.request(Peer::Agent, "session/load", params);
            asked.unwrap();
            return Reaction::Decided(Decision::Forward);
        }
        Reaction::Told
    });
    let mut router = attached(vec![loads], terms());
    client(&mut router, NEW);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
    );
    router.receive_sign_of_hooks(Some("s"));
    client(&mut router, PROMPT);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"go"}"#);
    let sent = received(&mut router, Peer::Agent).concat();
    assert!(sent.contains("session/load"), "{sent}");
    shows(&mut router, "s", "t", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn history_and_calls_without_a_hook_need_no_report() {
    let mut router = begun(terms());
    // Outside a turn.
    shows(&mut router, "s", "early", r#""status":"in_progress""#);
    router.receive_sign_of_hooks(Some("s"));
    client(&mut router, PROMPT);
    received(&mut router, Peer::Agent);
    shows(&mut router, "s", "early", COMPLETED);
    // While the session is loaded.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"l","method":"session/load","params":{"sessionId":"s","cwd":"/p","mcpServers":[]}}"#,
    );
    received(&mut router, Peer::Agent);
    shows(&mut router, "s", "old", COMPLETED);
    agent(&mut router, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    shows(
        &mut router,
        "s",
        "search",
        r#""status":"pending","kind":"hosted""#,
    );
    shows(&mut router, "s", "search", COMPLETED);
    assert!(!is_stopped(&mut router));
    // Calls that have not run fail with a turn that the client stops.
    client(&mut router, STOP);
    assert_eq!(received(&mut router, Peer::Agent), [STOP]);
    shows(&mut router, "s", "late", FAILED);
    assert!(!is_stopped(&mut router));
    shows(&mut router, "s", "later", COMPLETED);
    assert!(is_stopped(&mut router));
}

/// A router whose agent has a prompt, and whose hooks do not name calls.
fn prompted_without_names() -> Router {
    prompted(HookTerms {
        judges_failures: false,
        names_calls: false,
        tool_at: Some("/_meta/tool"),
        ..terms()
    })
}

/// A report of a tool that runs a command.
fn reports(router: &mut Router, number: u64, tool: &str, command: &str) {
    let params = format!(
        r#"{{"sessionId":"s","toolCall":{{"title":"{tool}","rawInput":{{"command":"{command}"}}}}}}"#
    );
    router.receive_from_hook(number, Message::request(BEFORE_TOOL, &params));
    router.pump(1000);
}

/// The first update about a call that runs a command.
fn begins_command(router: &mut Router, call: &str, command: &str) {
    agent(
        router,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"{call}","rawInput":{{"command":"{command}"}}}}}}}}"#
        ),
    );
}

#[test]
fn where_reports_do_not_name_calls_a_call_needs_one_with_its_input() {
    let mut router = prompted_without_names();
    for (number, call) in [(1, "a"), (2, "b")] {
        begins_command(&mut router, call, "make");
        reports(&mut router, number, "Bash", "make");
    }
    shows(&mut router, "s", "b", COMPLETED);
    shows(&mut router, "s", "a", COMPLETED);
    shows(&mut router, "s", "a", COMPLETED);
    // It may be reported before it is shown.
    reports(&mut router, 3, "Bash", "make");
    begins_command(&mut router, "c", "make");
    shows(&mut router, "s", "c", COMPLETED);
    assert!(!is_stopped(&mut router));
    reports(&mut router, 4, "Bash", "make");
    begins_command(&mut router, "d", "rm");
    shows(&mut router, "s", "d", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn a_report_whose_input_a_proxy_has_changed_is_of_a_call_with_either() {
    for command in ["make", "make all"] {
        let mut router = prompted_without_names();
        reports(&mut router, 1, "Bash", "make");
        reports(&mut router, 1, "Bash", "make all");
        for call in ["a", "b"] {
            assert!(!is_stopped(&mut router));
            begins_command(&mut router, call, command);
            shows(&mut router, "s", call, COMPLETED);
        }
        assert!(is_stopped(&mut router), "{command}");
    }
}

#[test]
fn a_report_of_another_tool_accounts_for_no_call() {
    let mut router = prompted_without_names();
    reports(&mut router, 1, "Bash", "make");
    begins_command(&mut router, "a", "make");
    shows(
        &mut router,
        "s",
        "a",
        r#""status":"completed","_meta":{"tool":"Fish"}"#,
    );
    assert!(is_stopped(&mut router));
}

#[test]
fn a_call_that_is_refused_or_fails_leaves_no_report_for_another_one() {
    let mut router = prompted_without_names();
    reports(&mut router, 1, "Bash", "make");
    router.note_refused_report(1, None);
    begins_command(&mut router, "a", "make");
    shows(&mut router, "s", "a", FAILED);
    reports(&mut router, 2, "Bash", "make");
    begins_command(&mut router, "b", "make");
    shows(&mut router, "s", "b", FAILED);
    assert!(!is_stopped(&mut router));
    begins_command(&mut router, "c", "make");
    shows(&mut router, "s", "c", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn a_call_whose_input_is_not_shown_needs_a_report_that_no_other_one_needs() {
    let mut router = prompted_without_names();
    reports(&mut router, 1, "Bash", "make");
    shows(&mut router, "s", "a", r#""rawInput":{}"#);
    shows(&mut router, "s", "a", COMPLETED);
    reports(&mut router, 2, "Bash", "make");
    begins_command(&mut router, "b", "make");
    assert!(!is_stopped(&mut router));
    shows(&mut router, "s", "c", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn a_report_of_a_turn_that_has_ended_is_only_of_a_call_that_was_shown_in_it() {
    for (is_shown_before, is_stopped_after) in [(true, false), (false, true)] {
        let mut router = prompted_without_names();
        reports(&mut router, 1, "Bash", "make");
        if is_shown_before {
            begins_command(&mut router, "a", "make");
        }
        agent(
            &mut router,
            r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
        );
        client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
        received(&mut router, Peer::Agent);
        if !is_shown_before {
            begins_command(&mut router, "a", "make");
        }
        shows(&mut router, "s", "a", COMPLETED);
        assert_eq!(is_stopped(&mut router), is_stopped_after);
    }
}

#[test]
fn where_reports_name_calls_one_that_does_not_accounts_for_none() {
    let mut router = prompted(terms());
    report(&mut router, 1, None);
    report(&mut router, 2, Some("a"));
    shows(&mut router, "s", "a", COMPLETED);
    assert!(!is_stopped(&mut router));
    shows(&mut router, "s", "b", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn a_call_that_was_refused_fails_or_is_not_shown() {
    let mut router = prompted(terms());
    for number in 1..=3 {
        report(&mut router, number, Some("a"));
        router.note_refused_report(number, Some("a"));
    }
    begins_call(&mut router, "a");
    shows(&mut router, "s", "a", FAILED);
    assert!(!is_stopped(&mut router));
    begins_call(&mut router, "a");
    shows(&mut router, "s", "a", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn how_a_refused_call_ends_does_not_matter_once_the_client_has_stopped_the_turn() {
    let mut router = prompted(terms());
    report(&mut router, 1, Some("a"));
    router.note_refused_report(1, Some("a"));
    client(&mut router, STOP);
    assert_eq!(received(&mut router, Peer::Agent), [STOP]);
    shows(&mut router, "s", "a", COMPLETED);
    assert!(!is_stopped(&mut router));
}

#[test]
fn a_report_that_was_refused_unread_accounts_for_a_call() {
    let mut router = prompted(terms());
    router.note_refused_call("a");
    shows(&mut router, "s", "a", FAILED);
    assert!(!is_stopped(&mut router));
    shows(&mut router, "s", "b", FAILED);
    assert!(is_stopped(&mut router));
}

#[test]
fn where_the_first_sign_comes_with_a_prompt_the_agent_does_not_work_before_it() {
    let of_kind = |kind: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"{kind}"}}}}}}"#
        )
    };
    for has_sign in [false, true] {
        let mut router = begun(HookTerms {
            first_sign: FirstSign::Prompt,
            ..terms()
        });
        agent(&mut router, &of_kind("agent_message_chunk"));
        client(&mut router, PROMPT);
        assert_eq!(received(&mut router, Peer::Agent), [PROMPTED]);
        for kind in [
            "available_commands_update",
            "agent_message_chunk",
            "agent_thought_chunk",
        ] {
            agent(&mut router, &of_kind(kind));
        }
        assert!(!is_stopped(&mut router));
        if has_sign {
            router.receive_sign_of_hooks(Some("s"));
        }
        agent(&mut router, &of_kind("tool_call"));
        assert_eq!(is_stopped(&mut router), !has_sign);
    }
}

/// Begins a session; `number` is the next one for requests to the agent.
fn begins(router: &mut Router, number: u64, session: &str) {
    client(router, &NEW.replace(r#""n""#, &format!(r#""n{number}""#)));
    let answer =
        format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"sessionId":"{session}"}}}}"#);
    agent(router, &answer);
}

/// The session of a report with these names.
fn of(router: &Router, names: &[&str]) -> Option<String> {
    let names: Vec<Arc<str>> = names.iter().copied().map(Arc::from).collect();
    router.session_of_report(&names).map(|of| of.to_string())
}

/// Gives the sessions `s` and `t` a turn.
fn prompt_both(router: &mut Router) {
    let other = PROMPT
        .replace(r#""p""#, r#""q""#)
        .replace(r#""s""#, r#""t""#);
    for line in [PROMPT, &other] {
        client(router, line);
    }
    received(router, Peer::Agent);
}

#[test]
fn what_names_no_session_of_acp_belongs_to_the_only_one_or_to_the_only_one_with_a_turn() {
    let mut router = attached(Vec::new(), terms());
    assert_eq!(of(&router, &["s"]), None);
    begins(&mut router, 1, "s");
    for named in ["s", "child"] {
        assert_eq!(of(&router, &[named]).as_deref(), Some("s"));
    }
    begins(&mut router, 2, "t");
    assert_eq!(of(&router, &["t"]).as_deref(), Some("t"));
    assert_eq!(of(&router, &["child"]), None);
    router.receive_sign_of_hooks(None);
    prompt_both(&mut router);
    assert_eq!(of(&router, &["child"]), None);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}"#,
    );
    assert_eq!(of(&router, &["child"]).as_deref(), Some("s"));
    // A subagent's call without a report stops the turn, too.
    shows(&mut router, "child", "a", COMPLETED);
    assert!(is_stopped(&mut router));
}

#[test]
fn what_names_its_parents_belongs_to_the_nearest_that_acp_knows() {
    let mut router = attached(Vec::new(), terms());
    begins(&mut router, 1, "s");
    begins(&mut router, 2, "t");
    router.receive_sign_of_hooks(None);
    prompt_both(&mut router);
    for (names, expected) in [
        (&["child", "s"][..], Some("s")),
        (&[], None),
        (&["child", "t"], Some("t")),
        (&["grandchild", "child", "t"], Some("t")),
        (&["child", "t", "s"], Some("t")),
        (&["s", "t"], Some("s")),
        (&["grandchild", "child"], None),
    ] {
        assert_eq!(of(&router, names).as_deref(), expected, "{names:?}");
    }
}

#[test]
fn only_the_agent_gets_what_the_host_adds_to_a_setup() {
    let meta = json!({ "o": { "settings": { "hooks": [1] } } });
    let sees_none = scripted("sees", "*", |event, _| {
        if let Event::Message(delivery) = event {
            assert!(!delivery.message.body().contains("hooks"));
        }
        Reaction::Decided(Decision::Forward)
    });
    let mut router = attached(
        vec![sees_none],
        HookTerms {
            meta: Some(meta),
            ..terms()
        },
    );
    for (number, method, theirs, ours) in [
        (1, "new", "", r#""_meta":{"o":{"settings":{"hooks":[1]}}}"#),
        (
            2,
            "load",
            r#","_meta":{ "o":{"a":1e400}}"#,
            r#""_meta":{ "o":{"a":1e400,"settings":{"hooks":[1]}}}"#,
        ),
        (
            3,
            "resume",
            r#","_meta":null"#,
            r#""_meta":{"o":{"settings":{"hooks":[1]}}}"#,
        ),
        (
            4,
            "fork",
            r#","_meta":{"o":{"settings":{"x":0}}}"#,
            r#""_meta":{"o":{"settings":{"x":0,"hooks":[1]}}}"#,
        ),
        // As Claude takes its settings.
        (
            5,
            "new",
            r#","_meta":{"o":{"settings":"{\"x\":0}"}}"#,
            r#""_meta":{"o":{"settings":{"x":0,"hooks":[1]}}}"#,
        ),
    ] {
        let line = |id: &str, meta: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/{method}","params":{{"sessionId":"s","cwd":"/p"{meta}}}}}"#
            )
        };
        client(&mut router, &line(&format!(r#""{number}""#), theirs));
        let expected = line(&number.to_string(), &format!(",{ours}"));
        assert_eq!(received(&mut router, Peer::Agent), [expected]);
    }
    // Other messages keep their bytes.
    let other = r#"{"jsonrpc":"2.0","method":"session/other","params":{"_meta":{ }}}"#;
    client(&mut router, other);
    assert_eq!(received(&mut router, Peer::Agent), [other]);
}

#[test]
fn what_hooks_put_into_commands_is_not_in_messages_of_the_agent() {
    let sees_none = scripted("sees", "*", |event, _| {
        if let Event::Message(delivery) = event {
            assert!(delivery.message.body().contains("make"));
            assert!(!delivery.message.body().contains("OURS "));
        }
        Reaction::Decided(Decision::Forward)
    });
    let mut router = attached(vec![sees_none], terms());
    let line = |id: &str, title: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"x/asks","params":{{ "title":"{title}"}}}}"#
        )
    };
    agent(&mut router, &line("7", "OURS make"));
    assert_eq!(received(&mut router, Peer::Client), [line("1", "make")]);
    let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"make"}}"#);
    client(&mut router, &answer("1"));
    assert_eq!(received(&mut router, Peer::Agent), [answer("7")]);
    agent(&mut router, &line("8", "make"));
    assert_eq!(received(&mut router, Peer::Client), [line("2", "make")]);
}

#[test]
fn a_setup_to_which_nothing_can_be_added_is_refused() {
    let meta = json!({ "o": { "settings": { "hooks": [1] } } });
    let mut router = attached(
        Vec::new(),
        HookTerms {
            meta: Some(meta),
            ..terms()
        },
    );
    let line = r#"{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"_meta":{"o":{"settings":"/a/path"}}}}"#;
    client(&mut router, line);
    let [refused] = &received(&mut router, Peer::Client)[..] else {
        panic!("one answer");
    };
    assert!(
        refused.contains(r#""id":"n","error":{"code":-32602"#),
        "{refused}"
    );
    assert!(
        refused.contains("`/_meta/o/settings` is a text, and not that of an object"),
        "{refused}"
    );
    // Nor does a notification, which gets no answer, reach the agent.
    client(&mut router, &line.replace(r#""id":"n","#, ""));
    assert!(received(&mut router, Peer::Agent).is_empty());
}

#[test]
fn without_hooks_nothing_waits_and_nothing_is_judged() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "news"));
    shows(&mut router, "s", "a", COMPLETED);
    assert_eq!(received(&mut router, Peer::Client).len(), 2);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    assert_eq!(router.next_timer(), None);
}

#[test]
fn what_the_agent_asks_about_without_having_shown_a_call_needs_no_report() {
    let ask_in = |form: &str, call: &str| {
        let about = form.replace("{}", &format!(r#"{{"toolCallId":"{call}"}}"#));
        format!(
            r#"{{"jsonrpc":"2.0","id":"{call}","method":"session/request_permission","params":{{"sessionId":"s",{about},"options":[]}}}}"#
        )
    };
    let ask = |call: &str| ask_in(r#""toolCall":{}"#, call);
    let mut router = prompted(terms());
    let version_2 = [r#""subject":{"toolCall":{}}"#, r#""subject":{}"#];
    for (form, question) in version_2.iter().zip(["subject", "command"]) {
        agent(&mut router, &ask_in(form, question));
        shows(&mut router, "s", question, COMPLETED);
    }
    agent(&mut router, &ask("question"));
    shows(&mut router, "s", "question", COMPLETED);
    assert!(!is_stopped(&mut router));
    shows(&mut router, "s", "call", r#""status":"pending""#);
    agent(&mut router, &ask("call"));
    shows(&mut router, "s", "call", COMPLETED);
    assert!(is_stopped(&mut router));
}
