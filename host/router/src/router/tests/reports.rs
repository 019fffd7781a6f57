//! Tool runs at a chain of this program, on exact lines: as its parent has them, and as the chain has them.

use super::hooks::{QUESTION, RUN, asks, outcomes, report};
use super::native::{native, says, sent_to};
use super::sessions::{SeenMessages, taken, watches};
use super::{Reaction, client as parent, forwards, received, scripted};
use crate::native::Dialect;
use crate::router::Router;
use crate::{Member, Native, Proxy};
use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL};
use acp_chain_channel::{Decision, Event, Failure, FailurePolicy, Peer};
use acp_chain_rpc::{Error, Message};

/// A chain of this program, at a place of its parent.
fn chain(name: &str) -> Native {
    Native {
        sees_tool_runs: true,
        ..native(name, FailurePolicy::Restart)
    }
}

/// The line by which a parent shows a report under this id.
fn shown(id: u64, method: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"proxy/successor","params":{{"method":"{method}","params":{params}}}}}"#
    )
}

/// The answer to the request with this id.
fn result(id: u64, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

#[test]
fn a_report_is_shown_to_a_chain_of_this_program_and_to_no_other() {
    let members: Vec<Member> = vec![
        native("other", FailurePolicy::Restart).into(),
        chain("chain").into(),
        forwards("*").into(),
    ];
    let mut router = Router::new(members, None);
    report(&mut router, 5, RUN);
    assert_eq!(sent_to(&mut router, 1), [shown(1, BEFORE_TOOL, RUN)]);
    assert!(outcomes(&mut router).is_empty());
    says(&mut router, 1, &result(1, RUN));
    assert_eq!(outcomes(&mut router), [(5, Ok(RUN.to_owned()))]);
    assert!(sent_to(&mut router, 0).is_empty());
    assert!(received(&mut router, Peer::Client).is_empty());
    assert!(received(&mut router, Peer::Agent).is_empty());
    assert_eq!(router.core.kept.kept(), 0);
    // An answer that comes again decides nothing.
    says(&mut router, 1, &result(1, RUN));
    assert!(outcomes(&mut router).is_empty());
}

#[test]
fn of_several_chains_the_agents_neighbour_decides_first() {
    let mut router = Router::new(vec![chain("inner"), chain("outer")], None);
    report(&mut router, 1, RUN);
    assert!(sent_to(&mut router, 0).is_empty());
    assert_eq!(sent_to(&mut router, 1), [shown(1, BEFORE_TOOL, RUN)]);
    let changed = RUN.replace("make", "make test");
    says(&mut router, 1, &result(1, &changed));
    assert_eq!(sent_to(&mut router, 0), [shown(1, BEFORE_TOOL, &changed)]);
    says(&mut router, 0, &result(1, &changed));
    assert_eq!(outcomes(&mut router), [(1, Ok(changed))]);
}

#[test]
fn of_what_a_chain_answers_only_what_powers_let_proxies_change_is_taken_over() {
    for (method, params, answer, passed) in [
        (
            BEFORE_TOOL,
            RUN,
            r#"{"sessionId":"t","toolCall":{"title":"Read","rawInput":{"command":"ls"}}}"#,
            r#"{"sessionId":"s","toolCall":{"title":"Bash","rawInput":{"command":"ls"}}}"#,
        ),
        (
            AFTER_TOOL,
            r#"{"sessionId":"s","toolCall":{"rawInput":{}},"output":["TOKEN=x"]}"#,
            r#"{"toolCall":{"rawInput":1},"output":["TOKEN="],"canChange":true}"#,
            r#"{"sessionId":"s","toolCall":{"rawInput":{}},"output":["TOKEN="]}"#,
        ),
    ] {
        let mut router = Router::new(vec![chain("chain")], None);
        router.receive_from_hook(1, Message::request(method, params));
        router.pump(1000);
        says(&mut router, 0, &result(1, answer));
        assert_eq!(outcomes(&mut router), [(1, Ok(passed.to_owned()))]);
    }
}

#[test]
fn an_error_of_a_chain_is_the_refusal_and_so_is_an_answer_without_the_input() {
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"not on Fridays"}}"#;
    for (answer, reason) in [
        (refused, "not on Fridays"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "chain"),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "chain"),
    ] {
        let seen = SeenMessages::default();
        let members: Vec<Member> = vec![watches("front", &seen).into(), chain("chain").into()];
        let mut router = Router::new(members, None);
        report(&mut router, 1, RUN);
        says(&mut router, 1, answer);
        let [(1, Err(why))] = &outcomes(&mut router)[..] else {
            panic!("it was not refused");
        };
        assert!(why.contains(reason), "{why}");
        assert!(taken(&seen).is_empty());
    }
}

#[test]
fn a_chain_that_ends_refuses_what_it_was_shown() {
    for on_failure in [FailurePolicy::Restart, FailurePolicy::Bypass] {
        let broken = Native {
            on_failure,
            ..chain("chain")
        };
        let mut router = Router::new(vec![broken], None);
        report(&mut router, 1, RUN);
        router.native_broke(0, &Failure::new("it exited with code 7"));
        let [(1, Err(why))] = &outcomes(&mut router)[..] else {
            panic!("it was not refused");
        };
        assert!(why.contains("it exited with code 7"), "{why}");
    }
}

#[test]
fn a_chain_that_has_ended_does_not_pass_what_a_guard_has_changed() {
    let changes = scripted("guard", BEFORE_TOOL, |event, _| match event {
        Event::Message(_) => Reaction::Decided(Decision::Replace(RUN.replace("make", "true"))),
        _ => Reaction::Told,
    });
    let changes = super::guards::guard(changes);
    let broken = Native {
        on_failure: FailurePolicy::Refuse,
        ..chain("chain")
    };
    let mut router = Router::new(vec![Member::from(broken), changes.into()], None);
    router.native_broke(0, &Failure::new("it exited with code 7"));
    report(&mut router, 1, RUN);
    let [(1, Err(why))] = &outcomes(&mut router)[..] else {
        panic!("it was not refused");
    };
    assert!(why.contains("it exited with code 7"), "{why}");
}

#[test]
fn a_report_that_is_withdrawn_is_withdrawn_from_the_chain() {
    let mut router = Router::new(vec![chain("chain")], None);
    report(&mut router, 1, RUN);
    sent_to(&mut router, 0);
    router.cancel_of_hook(1);
    assert_eq!(
        sent_to(&mut router, 0),
        [r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#]
    );
    let answer =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}"#;
    says(&mut router, 0, answer);
    let refused = Err("Request cancelled".to_owned());
    assert_eq!(outcomes(&mut router), [(1, refused)]);
}

#[test]
fn a_chain_sends_no_reports_itself() {
    let mut router = Router::new(
        vec![forwards("*").into(), Member::from(chain("chain"))],
        None,
    );
    let plain = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{BEFORE_TOOL}","params":{RUN}}}"#);
    for (line, code) in [(plain, "-32600"), (shown(7, BEFORE_TOOL, RUN), "-32601")] {
        says(&mut router, 1, &line);
        let answers = sent_to(&mut router, 1);
        let refused = format!(r#""id":7,"error":{{"code":{code}"#);
        assert!(answers[0].contains(&refused), "{answers:?}");
        assert!(outcomes(&mut router).is_empty());
    }
    assert!(received(&mut router, Peer::Client).is_empty());
    assert!(received(&mut router, Peer::Agent).is_empty());
}

/// A chain of these proxies, whose parent is this program.
fn child(proxies: Vec<Proxy>) -> Router {
    let mut router = Router::new(proxies, None);
    router.set_parent(Dialect::Proxy);
    router.see_tool_runs();
    router
}

#[test]
fn what_all_proxies_of_the_chain_pass_is_the_answer() {
    let changes = scripted("changes", BEFORE_TOOL, |event, _| match event {
        Event::Message(_) => Reaction::Decided(Decision::Replace(RUN.replace("make", "true"))),
        _ => Reaction::Told,
    });
    for (proxies, passed) in [
        (vec![], RUN.to_owned()),
        (vec![forwards("m"), forwards("*")], RUN.to_owned()),
        (vec![forwards("*"), changes], RUN.replace("make", "true")),
    ] {
        let mut router = child(proxies);
        parent(&mut router, &shown(7, BEFORE_TOOL, RUN));
        assert_eq!(received(&mut router, Peer::Client), [result(7, &passed)]);
        // The id is free again.
        parent(&mut router, &shown(7, BEFORE_TOOL, RUN));
        assert_eq!(received(&mut router, Peer::Client), [result(7, &passed)]);
        assert!(outcomes(&mut router).is_empty() && !router.is_owed(Peer::Client));
    }
}

#[test]
fn a_refusal_of_a_proxy_of_the_chain_passes_no_other() {
    let seen = SeenMessages::default();
    let refuses = scripted("guard", BEFORE_TOOL, |_, _| {
        Reaction::Decided(Decision::Reject(Error::new(7, "not on Fridays")))
    });
    let mut router = child(vec![watches("far", &seen), refuses, watches("near", &seen)]);
    parent(&mut router, &shown(7, BEFORE_TOOL, RUN));
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":7,"error":{"code":7,"message":"not on Fridays"}}"#]
    );
    assert_eq!(taken(&seen), [format!("near: {BEFORE_TOOL} in s")]);
}

/// A chain whose guard has asked the user about a report.
fn asked() -> Router {
    let mut router = child(vec![forwards("*"), asks()]);
    parent(&mut router, &shown(7, BEFORE_TOOL, RUN));
    let question = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{QUESTION}}}"#
    );
    assert_eq!(received(&mut router, Peer::Client), [question]);
    router
}

#[test]
fn a_guard_of_the_chain_asks_the_user_while_the_report_waits() {
    for (option, expected) in [("allow", RUN), ("deny", "-32800")] {
        let mut router = asked();
        let outcome = format!(r#"{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}"#);
        parent(&mut router, &result(2, &outcome));
        let lines = received(&mut router, Peer::Client);
        let answer = lines.first().filter(|_| lines.len() == 1);
        assert!(
            answer.is_some_and(|line| line.contains(r#""id":7,"#) && line.contains(expected)),
            "{lines:?}"
        );
    }
}

#[test]
fn a_stop_of_the_turn_or_a_withdrawal_refuses_a_report_that_the_chain_holds() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#,
    ] {
        let mut router = asked();
        parent(&mut router, line);
        let lines = received(&mut router, Peer::Client);
        let mut answers = lines.iter().filter(|line| line.contains(r#""id":7,"#));
        assert!(
            answers
                .next()
                .is_some_and(|answer| answer.contains("-32800")),
            "{lines:?}"
        );
    }
}

#[test]
fn a_chain_takes_reports_only_from_this_program_and_only_as_the_successors_requests() {
    let own = child(vec![forwards("*")]);
    let mut foreign = Router::new(vec![forwards("*")], None);
    foreign.set_parent(Dialect::Proxy);
    let plain = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{BEFORE_TOOL}","params":{RUN}}}"#);
    let other = shown(7, "_acp-chain/hook/other", RUN);
    for (mut router, lines) in [
        (own, vec![plain.clone(), other.clone()]),
        (foreign, vec![plain, other, shown(7, BEFORE_TOOL, RUN)]),
    ] {
        for line in lines {
            parent(&mut router, &line);
            parent(&mut router, &line.replace(r#""id":7,"#, ""));
            let answers = received(&mut router, Peer::Client);
            assert_eq!(answers.len(), 1, "{answers:?}");
            assert!(answers[0].contains(r#""id":7,"error""#), "{answers:?}");
        }
    }
}
