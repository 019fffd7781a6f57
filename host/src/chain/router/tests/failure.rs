//! Proxies that fail, and an agent that is lost.

use super::{PROMPT, agent, client, forwards, heard, scripted, update};
use crate::chain::router::Router;
use crate::channel::{Action, Event, Outcome, Peer};
use crate::rpc;

#[test]
fn a_proxy_that_holds_a_line_for_too_long_is_given_up() {
    let holds = scripted("holds", "session/update", |_, _| {
        Outcome::Decided(Action::Hold)
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
    assert!(heard(&mut router, Peer::Client).is_empty());
    agent(&mut router, &long);
    let came = heard(&mut router, Peer::Client);
    assert_eq!(came.len(), 17, "the answer, and all that waited behind it");
    assert!(came[0].contains(r#""id":"p""#), "{}", came[0]);
}

#[test]
fn a_proxy_that_cannot_decide_fails_that_message_only() {
    let mut calls = 0;
    let fails = scripted("fails", "*", move |_, _| {
        calls += 1;
        match calls {
            1..=3 => Outcome::Refused("no idea".to_owned()),
            _ => Outcome::Decided(Action::Forward),
        }
    });
    let mut router = Router::new(vec![fails], None);
    client(&mut router, PROMPT);
    let answers = heard(&mut router, Peer::Client);
    assert!(
        answers[0].contains("the proxy `fails` failed on session/prompt: no idea"),
        "{answers:?}"
    );
    agent(&mut router, &update("s", "lost"));
    client(&mut router, r#"{"jsonrpc":"2.0","method":"lost"}"#);
    client(&mut router, PROMPT);
    assert_eq!(heard(&mut router, Peer::Agent).len(), 1);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn when_a_proxy_dies_everything_that_it_had_is_answered() {
    let dies = scripted("dies", "*", |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "die" => Outcome::Died("trap".into()),
        _ => {
            ledger.request(Peer::Agent, "own", "null").unwrap();
            Outcome::Decided(Action::Hold)
        }
    });
    let mut router = Router::new(vec![dies], None);
    client(&mut router, PROMPT);
    client(&mut router, r#"{"jsonrpc":"2.0","id":"d","method":"die"}"#);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"later","method":"m"}"#,
    );
    let answers = heard(&mut router, Peer::Client);
    assert_eq!(answers.len(), 3);
    for (answer, id) in answers.iter().zip([r#""p""#, r#""d""#, r#""later""#]) {
        assert!(answer.contains(id) && answer.contains("`dies`"), "{answer}");
    }
    assert_eq!(
        heard(&mut router, Peer::Agent)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#
    );
    // The answer to what it had asked comes too late for it.
    agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":1}"#);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn when_the_agent_is_lost_nobody_waits_for_it() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, PROMPT);
    router.lose(Peer::Agent, &rpc::Error::new(-32603, "gone"));
    router.pump(1000);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"later","method":"m"}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32603,"message":"gone"}}"#,
            r#"{"jsonrpc":"2.0","id":"later","error":{"code":-32603,"message":"gone"}}"#,
        ]
    );
    assert!(!router.is_owed(Peer::Client));
}
