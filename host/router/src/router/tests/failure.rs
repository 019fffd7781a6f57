//! Failing proxies, and a lost agent.

use std::time::Duration;

use super::{PROMPT, Reaction, agent, client, forwards, received, scripted, slow, under, update};
use crate::router::Router;
use crate::{Proxy, Terms};
use acp_chain_powers::{Actions, NamedMethods};

use acp_chain_channel::limits::Limits;
use acp_chain_channel::{Decision, Event, FailurePolicy, Grant, Pattern, Peer};
use acp_chain_rpc as rpc;

/// Terms under which a proxy may do everything, with one policy.
fn terms(on_failure: FailurePolicy) -> Terms {
    Terms {
        limits: Limits::default().into(),
        grant: Grant::unlimited().into(),
        on_failure,
        sleep_after: None,
    }
}

/// A script that breaks at the method `die`, and forwards all other messages.
fn mortal(event: &Event) -> Reaction {
    match event {
        Event::Message(delivery) if &*delivery.method == "die" => Reaction::Broke("trap"),
        _ => Reaction::Decided(Decision::Forward),
    }
}

const DIE: &str = r#"{"jsonrpc":"2.0","id":"d","method":"die"}"#;

#[test]
fn a_proxy_that_holds_a_line_for_too_long_is_given_up() {
    let holds = scripted("holds", "session/update", |_, _| {
        Reaction::Decided(Decision::Hold)
    });
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "held"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let long = "x".repeat(1 << 20);
    let long =
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"sessionId":"s","x":"{long}"}}}}"#);
    for _ in 0..15 {
        agent(&mut router, &long);
    }
    assert!(received(&mut router, Peer::Client).is_empty());
    agent(&mut router, &long);
    let came = received(&mut router, Peer::Client);
    assert_eq!(
        came.len(),
        18,
        "a notice, the answer, and all that waited behind it"
    );
    assert!(came[1].contains(r#""id":"p""#), "{}", came[1]);
}

#[test]
fn a_proxy_that_cannot_decide_fails_that_message_only() {
    let mut calls = 0;
    let fails = scripted("fails", "*", move |_, _| {
        calls += 1;
        match calls {
            1..=3 => Reaction::Refused("no idea".to_owned()),
            _ => Reaction::Decided(Decision::Forward),
        }
    });
    let mut router = Router::new(vec![fails], None);
    client(&mut router, PROMPT);
    let answers = received(&mut router, Peer::Client);
    assert!(
        answers[0].contains("the proxy `fails` failed on session/prompt: no idea"),
        "{answers:?}"
    );
    agent(&mut router, &update("s", "lost"));
    client(&mut router, r#"{"jsonrpc":"2.0","method":"lost"}"#);
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    // The user is notified only of the first of the two losses, in the next turn.
    let [got] = &received(&mut router, Peer::Client)[..] else {
        panic!("one notice")
    };
    let lost = "the proxy `fails` failed on session/update: no idea; it is refused: ";
    assert!(got.contains(lost), "{got}");
}

#[test]
fn when_a_proxy_breaks_all_its_requests_are_answered() {
    let dies = scripted("dies", "*", |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "die" => Reaction::Broke("trap"),
        _ => {
            ledger.request(Peer::Agent, "own", "null").unwrap();
            Reaction::Decided(Decision::Hold)
        }
    });
    let mut router = Router::new(vec![dies], None);
    client(&mut router, PROMPT);
    client(&mut router, r#"{"jsonrpc":"2.0","id":"d","method":"die"}"#);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"later","method":"m"}"#,
    );
    let answers = received(&mut router, Peer::Client);
    assert_eq!(answers.len(), 4, "a notice, and the answers");
    for (answer, id) in answers[1..].iter().zip([r#""p""#, r#""d""#, r#""later""#]) {
        assert!(answer.contains(id) && answer.contains("`dies`"), "{answer}");
    }
    assert_eq!(
        received(&mut router, Peer::Agent)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#
    );
    // The answer to the request of the earlier instance arrives too late.
    agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":1}"#);
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[test]
fn when_the_agent_is_lost_all_requests_to_it_are_answered() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, PROMPT);
    router.lose(Peer::Agent, &rpc::Error::new(-32603, "gone"));
    router.pump(1000);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"later","method":"m"}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32603,"message":"gone"}}"#,
            r#"{"jsonrpc":"2.0","id":"later","error":{"code":-32603,"message":"gone"}}"#,
        ]
    );
    assert!(!router.is_owed(Peer::Client));
}

#[test]
fn messages_bypass_a_broken_proxy_unchanged() {
    let (dies, _) = under(
        terms(FailurePolicy::Bypass),
        "dies",
        "*",
        |event, _| match mortal(event) {
            Reaction::Decided(_) => Reaction::Decided(Decision::Hold),
            says => says,
        },
    );
    let mut router = Router::new(vec![dies], None);
    client(&mut router, PROMPT);
    assert!(received(&mut router, Peer::Agent).is_empty());
    client(&mut router, DIE);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"later"}"#);
    let came = received(&mut router, Peer::Agent);
    assert_eq!(
        came.len(),
        3,
        "what was held, what it broke at, and what came later: {came:?}"
    );
    assert!(
        came[0].contains("session/prompt") && came[1].contains("die"),
        "{came:?}"
    );
    let got = received(&mut router, Peer::Client);
    assert_eq!(got.len(), 1, "nothing but the notice: {got:?}");
}

#[test]
fn a_broken_proxy_is_restarted_with_its_saved_state_and_its_messages_wait() {
    let (dies, starts) = under(
        terms(FailurePolicy::Restart),
        "dies",
        "*",
        |event, ledger| {
            ledger.save("what it knows".to_owned()).unwrap();
            mortal(event)
        },
    );
    let mut router = Router::new(vec![dies], None);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"before"}"#);
    client(&mut router, DIE);
    let refused = received(&mut router, Peer::Client);
    assert!(
        refused[0].contains("the proxy `dies` failed on die: trap"),
        "{refused:?}"
    );
    client(&mut router, PROMPT);
    assert_eq!(
        received(&mut router, Peer::Agent).len(),
        1,
        "the prompt waits"
    );
    assert!(starts.lock().unwrap().is_empty());

    let at = router.next_timer().expect("it is to be started");
    router.advance(at);
    router.pump(1000);
    assert_eq!(
        *starts.lock().unwrap(),
        [(3, Some("what it knows".to_owned()))]
    );
    assert!(received(&mut router, Peer::Agent)[0].contains("session/prompt"));
    assert_eq!(router.next_timer(), None);
}

#[test]
fn a_proxy_that_breaks_too_often_is_given_up() {
    for (policy, passes) in [
        (FailurePolicy::Restart, false),
        (FailurePolicy::RestartThenBypass, true),
    ] {
        let (dies, starts) = under(terms(policy), "dies", "*", |event, _| mortal(event));
        let mut router = Router::new(vec![dies], None);
        for _ in 0..Limits::default().restarts {
            client(&mut router, DIE);
            router.advance(router.next_timer().expect("it is to be started"));
        }
        client(&mut router, DIE);
        assert_eq!(router.next_timer(), None);
        assert_eq!(starts.lock().unwrap().len(), Limits::default().restarts);
        assert!(received(&mut router, Peer::Agent).is_empty());
        assert!(
            received(&mut router, Peer::Client)
                .iter()
                .any(|answer| answer.contains("failed on die"))
        );
        client(&mut router, PROMPT);
        assert_eq!(
            received(&mut router, Peer::Agent).len(),
            usize::from(passes)
        );
    }
}

#[test]
fn a_restarted_proxy_gets_no_answers_to_requests_of_an_earlier_instance() {
    let (dies, _) = under(
        terms(FailurePolicy::Restart),
        "dies",
        "*",
        |event, ledger| {
            let says = mortal(event);
            if let (Event::Message(_), Reaction::Decided(_)) = (event, &says) {
                ledger.request(Peer::Agent, "own", "null").unwrap();
            }
            assert!(!matches!(event, Event::Answer(_)));
            says
        },
    );
    let mut router = Router::new(vec![dies], None);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"ask"}"#);
    client(&mut router, DIE);
    router.advance(router.next_timer().expect("it is to be started"));
    let came = received(&mut router, Peer::Agent);
    assert_eq!(
        came.last().unwrap(),
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":1}"#);
}

#[test]
fn a_message_that_a_proxy_holds_for_too_long_is_taken_from_it() {
    for (policy, passes) in [
        (FailurePolicy::Refuse, false),
        (FailurePolicy::Bypass, true),
    ] {
        let (holds, _) = under(terms(policy), "holds", "*", |event, ledger| match event {
            Event::Message(delivery) if &*delivery.method == "late" => {
                let late = ledger.settle(1, Decision::Forward);
                assert!(late.is_err(), "the host has settled it");
                Reaction::Decided(Decision::Forward)
            }
            _ => Reaction::Decided(Decision::Hold),
        });
        let mut router = Router::new(vec![holds], None);
        client(&mut router, PROMPT);
        let at = router.next_timer().expect("it may not hold it for ever");
        router.advance(at - Duration::from_millis(1));
        router.pump(1000);
        assert!(received(&mut router, Peer::Client).is_empty());
        router.advance(at);
        router.pump(1000);
        assert_eq!(
            received(&mut router, Peer::Agent).len(),
            usize::from(passes)
        );
        let answers = received(&mut router, Peer::Client);
        assert_eq!(answers.len(), usize::from(!passes));
        assert!(
            answers.iter().all(|answer| answer.contains("`holds`")),
            "{answers:?}"
        );
        client(&mut router, r#"{"jsonrpc":"2.0","method":"late"}"#);
    }
}

#[test]
fn a_proxy_may_cancel_its_requests_when_a_message_was_taken_from_it() {
    let mut asked = None;
    let holds = scripted(
        "holds",
        "session/prompt",
        move |event, ledger| match event {
            Event::Message(_) => {
                asked = ledger.request(Peer::Client, "own", "null").ok();
                Reaction::Decided(Decision::Hold)
            }
            Event::Cancel(id) => {
                let late = ledger.settle(*id, Decision::Forward);
                assert!(late.is_err(), "the host has it back");
                ledger.cancel(asked.unwrap()).unwrap();
                Reaction::Told
            }
            _ => Reaction::Told,
        },
    );
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    let own = r#"{"jsonrpc":"2.0","id":2,"method":"own"}"#;
    assert_eq!(received(&mut router, Peer::Client), [own]);
    router.advance(router.next_timer().expect("it may not hold it for ever"));
    router.pump(1000);
    let [refused, withdrawn] = &received(&mut router, Peer::Client)[..] else {
        panic!("an answer and a cancellation");
    };
    assert!(
        refused.contains("it held the message for too long"),
        "{refused}"
    );
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#;
    assert_eq!(withdrawn, cancel);
}

#[test]
fn the_requests_of_a_broken_proxy_are_cancelled_in_the_order_in_which_they_were_opened() {
    let breaks = scripted("breaks", "*", |_, ledger| {
        for _ in 0..20 {
            ledger.request(Peer::Client, "own", "null").unwrap();
        }
        Reaction::Broke("trap")
    });
    let mut router = Router::new(vec![breaks], None);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"breaks"}"#);
    let came = received(&mut router, Peer::Client);
    let opened = came
        .iter()
        .filter(|line| line.contains(r#""method":"own""#));
    let cancelled = came.iter().filter(|line| line.contains("$/cancel_request"));
    let ids = |line: &String| {
        line.matches(|c: char| c.is_ascii_digit())
            .collect::<String>()
    };
    let (opened, cancelled): (Vec<_>, Vec<_>) =
        (opened.map(ids).collect(), cancelled.map(ids).collect());
    assert_eq!(opened.len(), 20);
    assert_eq!(cancelled, opened);
}

#[test]
fn a_proxy_that_settles_in_time_leaves_no_timer() {
    let holds = scripted("holds", "*", |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "settle" => {
            ledger.settle(1, Decision::Forward).unwrap();
            Reaction::Decided(Decision::Forward)
        }
        _ => Reaction::Decided(Decision::Hold),
    });
    let mut router = Router::new(vec![holds], None);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"hold"}"#);
    assert!(router.next_timer().is_some());
    client(&mut router, r#"{"jsonrpc":"2.0","method":"settle"}"#);
    assert_eq!(router.next_timer(), None);
}

#[test]
fn the_user_is_notified_once_in_a_turn() {
    let (dies, _) = under(terms(FailurePolicy::Restart), "dies", "die", |event, _| {
        mortal(event)
    });
    let mut router = Router::new(vec![dies], None);
    router.set_log(Some("/var/log/x".into()));
    client(&mut router, DIE);
    let before = received(&mut router, Peer::Client);
    assert_eq!(
        before.len(),
        1,
        "outside of a turn only the answer: {before:?}"
    );
    client(&mut router, PROMPT);
    let got = received(&mut router, Peer::Client);
    let text = "the proxy `dies` broke: trap. It is restarted. More is in /var/log/x.";
    assert_eq!(got.len(), 1);
    assert!(
        got[0].contains(r#""sessionId":"s""#) && got[0].contains(text),
        "{}",
        got[0]
    );
    // Neither at once nor when the earlier failure no longer counts.
    for wait in [Duration::ZERO, Limits::default().restart_window * 2] {
        let at = router.next_timer().expect("it is to be started");
        router.advance(at + wait);
        client(&mut router, DIE);
        let after = received(&mut router, Peer::Client);
        assert_eq!(after.len(), 1, "again only the answer: {after:?}");
    }
}

#[test]
fn a_proxy_cannot_stop_what_it_may_only_observe() {
    let reads = NamedMethods {
        methods: Pattern::new("m").unwrap(),
        actions: Actions::READ,
    };
    let grant = Grant::new("meddles", [], vec![reads]).unwrap();
    let observer = Terms {
        grant: grant.into(),
        ..terms(FailurePolicy::Refuse)
    };
    let mut calls = 0;
    let (meddles, _) = under(observer, "meddles", "*", move |_, _| {
        calls += 1;
        match calls {
            1 => Reaction::Decided(Decision::Replace("{}".to_owned())),
            2 => Reaction::Decided(Decision::Reject(rpc::Error::new(1, "no"))),
            3 => Reaction::Decided(Decision::Hold),
            4 => Reaction::Refused("will not".to_owned()),
            _ => Reaction::Broke("trap"),
        }
    });
    let mut router = Router::new(vec![meddles], None);
    for id in 0..6 {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"n":{id}}}}}"#);
        client(&mut router, &line);
        let came = received(&mut router, Peer::Agent);
        assert!(
            came[0].contains(&format!(r#""params":{{"n":{id}}}"#)),
            "{came:?}"
        );
    }
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[tokio::test]
async fn a_proxy_that_floods_a_busy_one_is_ended() {
    let (_go, wait) = tokio::sync::oneshot::channel();
    let few = Limits {
        in_flight: 1000,
        ..Limits::default()
    };
    let terms = Terms {
        limits: few.into(),
        ..terms(FailurePolicy::Refuse)
    };
    let (floods, _) = under(terms, "floods", "go", |_, ledger| {
        for _ in 0..5 {
            ledger.notify(Peer::Agent, "flood", "null").unwrap();
        }
        Reaction::Decided(Decision::Forward)
    });
    let mut router = Router::new(vec![floods, slow("flood", wait)], None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":1,"method":"go"}"#);
    client(&mut router, r#"{"jsonrpc":"2.0","id":2,"method":"go"}"#);
    client(&mut router, r#"{"jsonrpc":"2.0","id":3,"method":"go"}"#);
    let answers = received(&mut router, Peer::Client);
    let last = answers.last().expect("it is refused");
    assert!(last.contains("its limit `in-flight`"), "{answers:?}");
}

#[tokio::test]
async fn a_proxy_that_is_down_is_not_ended_once_more() {
    let (go, wait) = tokio::sync::oneshot::channel();
    let few = Limits {
        in_flight: 1000,
        ..Limits::default()
    };
    let terms = Terms {
        limits: few.into(),
        ..terms(FailurePolicy::Restart)
    };
    let (floods, starts) = under(terms, "floods", "go", |_, ledger| {
        for _ in 0..20 {
            ledger.notify(Peer::Agent, "flood", "null").unwrap();
        }
        Reaction::Decided(Decision::Forward)
    });
    let proxies = vec![floods, slow("flood", wait), forwards("flood")];
    let mut router = Router::new(proxies, None);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"go"}"#);
    let at = router.next_timer().expect("it is to be started");
    // The proxy's message goes on to the next proxy while the proxy is down.
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    assert_eq!(router.next_timer(), Some(at));
    router.advance(at);
    assert_eq!(
        (router.next_timer(), starts.lock().unwrap().len()),
        (None, 1)
    );
}

#[test]
fn a_message_too_long_for_a_proxy_does_not_break_it() {
    let short = Limits {
        body: 100,
        ..Limits::default()
    };
    let terms = Terms {
        limits: short.into(),
        ..terms(FailurePolicy::Refuse)
    };
    let (sees, _) = under(terms, "sees", "*", |_, _| {
        Reaction::Decided(Decision::Forward)
    });
    let mut router = Router::new(vec![sees], None);
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":["{}"]}}"#,
        "x".repeat(100)
    );
    client(&mut router, &long);
    let answers = received(&mut router, Peer::Client);
    assert!(
        answers[0].contains("over the limit `body` of 100"),
        "{answers:?}"
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":2,"method":"m"}"#);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
}

#[test]
fn ids_and_open_requests_of_an_end_are_bounded() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    let id = "x".repeat(acp_chain_channel::limits::LONGEST_ID);
    client(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"m"}}"#),
    );
    assert!(received(&mut router, Peer::Client)[0].contains("an id may have at most 1024 bytes"));
    for id in 0..acp_chain_channel::limits::OPEN {
        client(
            &mut router,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#),
        );
    }
    assert!(received(&mut router, Peer::Client).is_empty());
    client(&mut router, r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#);
    assert!(received(&mut router, Peer::Client)[0].contains("65536 requests are open already"));
}

#[test]
fn the_bytes_kept_of_open_requests_are_bounded_and_freed_with_the_answer() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    let long = "x".repeat(acp_chain_channel::limits::OPEN_KEPT / 3);
    let request = |id| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"sessionId":"{long}"}}}}"#)
    };
    for id in ["1", "2"] {
        client(&mut router, &request(id));
    }
    assert_eq!(received(&mut router, Peer::Agent).len(), 2);
    client(&mut router, &request("3"));
    let refused = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"the ids, methods and sessions of the open requests take 64 MiB already"}}"#;
    assert_eq!(received(&mut router, Peer::Client), [refused]);
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    received(&mut router, Peer::Client);
    client(&mut router, &request("3"));
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
}

#[test]
fn sessions_that_a_proxy_gives_requests_are_charged_to_the_proxy() {
    let limits = Limits {
        request_bytes: 2000,
        ..Limits::default()
    };
    let terms = Terms {
        limits: limits.into(),
        ..terms(FailurePolicy::Refuse)
    };
    let moves = under(terms, "moves", "*", |event, _| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        let name = "x".repeat(1500);
        match delivery.sender {
            Peer::Client => {
                Reaction::Decided(Decision::Replace(format!(r#"{{"sessionId":"{name}"}}"#)))
            }
            Peer::Agent => Reaction::Decided(Decision::Forward),
        }
    });
    let mut router = Router::new(vec![moves.0], None);
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    let refused = received(&mut router, Peer::Client);
    assert!(refused[0].contains("`request-bytes`"), "{refused:?}");
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
    client(&mut router, &PROMPT.replace(r#""p""#, r#""r""#));
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
}

#[test]
fn the_bytes_kept_of_a_proxys_own_requests_are_bounded_across_restarts() {
    let limits = Limits {
        request_bytes: 10_000,
        ..Limits::default()
    };
    let terms = Terms {
        limits: limits.into(),
        ..terms(FailurePolicy::Restart)
    };
    let (asks, starts) = under(terms, "asks", "m", |_, ledger| {
        let params = format!(r#"{{"sessionId":"{}"}}"#, "x".repeat(3000));
        ledger.request(Peer::Agent, "own", &params).unwrap();
        Reaction::Decided(Decision::Forward)
    });
    let mut router = Router::new(vec![asks], None);
    let own = |router: &mut Router| {
        client(router, r#"{"jsonrpc":"2.0","method":"m"}"#);
        let received = received(router, Peer::Agent);
        received.iter().filter(|line| line.contains("own")).count()
    };
    assert_eq!([(); 3].map(|()| own(&mut router)), [1, 1, 0]);
    for begun in 1..=3 {
        // The request from before the failure is unanswered, and still kept.
        let again = router.next_timer().unwrap();
        router.advance(again);
        assert_eq!(starts.lock().unwrap().len(), begun);
        assert_eq!(own(&mut router), 0);
    }
    assert_eq!(router.next_timer(), None);
}
