//! Dry runs: messages pass as they came, and the user is told what proxies would have done.

use std::sync::{Arc, Mutex};

use super::guards::guard;
use super::{PROMPT, Reaction, agent, client, forwards, received, scripted};
use crate::Proxy;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Offer, Peer};
use acp_chain_rpc as rpc;

/// The prompt as the agent gets it, and the answer as the client does.
const SENT: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#;
const ANSWERED: &str = r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#;

fn dry(proxies: Vec<Proxy>) -> Router {
    let mut router = Router::new(proxies, None);
    router.set_dry_run();
    router
}

fn notice(number: u64, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"content":{{"text":"\n\n**acp-chain**: {text}\n\n","type":"text"}},"messageId":"acp-chain-{number}","sessionUpdate":"agent_message_chunk"}}}}}}"#
    )
}

fn no() -> Decision {
    Decision::Reject(rpc::Error::new(7, "no"))
}

/// Decides like this about requests and notifications of a method.
fn says(method: &str, decision: Decision) -> Proxy {
    scripted("says", method, move |event, _| match event {
        Event::Message(delivery) if !delivery.message.kind().is_response() => {
            Reaction::Decided(decision.clone())
        }
        _ => Reaction::Decided(Decision::Forward),
    })
}

/// Answers the prompt. What the client gets then has to be this notice, and the answer.
fn ends_with(router: &mut Router, told: &str) {
    agent(router, ANSWER);
    let told = notice(1, &format!("in this dry run, {told}."));
    assert_eq!(received(router, Peer::Client), [&*told, ANSWERED]);
}

#[test]
fn a_message_passes_as_it_came_whatever_a_proxy_decides() {
    for (decision, would) in [
        (Decision::Replace("{}".to_owned()), "changed"),
        (Decision::Respond("{}".to_owned()), "answered"),
        (no(), "refused"),
    ] {
        for guards in [false, true] {
            let mut proxy = says("session/prompt", decision.clone());
            proxy.registration.guard = guards;
            let mut router = dry(vec![forwards("*"), proxy]);
            client(&mut router, PROMPT);
            assert_eq!(received(&mut router, Peer::Agent), [SENT]);
            let told = format!("the proxy `says` would have {would} the request `session/prompt`");
            ends_with(&mut router, &told);
        }
    }
}

#[test]
fn a_notification_that_would_have_been_dropped_passes_and_is_counted() {
    let mut router = dry(vec![says("m", Decision::Discard)]);
    client(&mut router, PROMPT);
    let line = r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#;
    for _ in 0..3 {
        agent(&mut router, line);
    }
    assert_eq!(received(&mut router, Peer::Client), [line, line, line]);
    ends_with(
        &mut router,
        "the proxy `says` would have dropped the notification `m` (3 times)",
    );
}

#[test]
fn a_proxy_that_lets_everything_pass_is_not_named() {
    let mut router = dry(vec![forwards("*")]);
    client(&mut router, PROMPT);
    agent(&mut router, ANSWER);
    assert_eq!(received(&mut router, Peer::Client), [ANSWERED]);
}

#[test]
fn what_a_proxy_sends_is_not_sent_and_its_requests_fail_at_once() {
    let answers = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&answers);
    let asks = scripted("asks", "m", move |event, ledger| match event {
        Event::Message(_) => {
            ledger.request(Peer::Client, "to/client", "null").unwrap();
            ledger.request(Peer::Agent, "to/agent", "null").unwrap();
            ledger.notify(Peer::Agent, "told", "null").unwrap();
            Reaction::Decided(Decision::Forward)
        }
        Event::Answer(delivery) => {
            let answer = format!("{}: {}", delivery.method, delivery.message.body());
            seen.lock().unwrap().push(answer);
            Reaction::Told
        }
        _ => Reaction::Told,
    });
    let mut router = dry(vec![forwards("*"), asks, forwards("*")]);
    client(&mut router, PROMPT);
    let line = r#"{"jsonrpc":"2.0","method":"m"}"#;
    client(&mut router, line);
    assert_eq!(received(&mut router, Peer::Agent), [SENT, line]);
    let error = r#"{"code":-32603,"message":"acp-chain: the request is not sent: this is a dry run, in which proxies do nothing"}"#;
    let expected = ["to/client", "to/agent"].map(|method| format!("{method}: {error}"));
    assert_eq!(*answers.lock().unwrap(), expected);
    ends_with(
        &mut router,
        "the proxy `asks` would have sent the request `to/client`; \
         the proxy `asks` would have sent the request `to/agent`; \
         the proxy `asks` would have sent the notification `told`",
    );
}

/// Holds prompts, and refuses them at the message `go`. Notes what is taken from it.
fn holds(taken: &Arc<Mutex<usize>>) -> Proxy {
    let (taken, mut held) = (Arc::clone(taken), Vec::new());
    scripted("holds", "*", move |event, ledger| match event {
        Event::Message(delivery) if delivery.message.kind().is_response() => {
            Reaction::Decided(Decision::Forward)
        }
        Event::Message(delivery) if &*delivery.method == "session/prompt" => {
            held.push(delivery.id);
            Reaction::Decided(Decision::Hold)
        }
        Event::Message(_) => {
            for id in held.drain(..) {
                ledger.settle(id, no()).unwrap();
            }
            Reaction::Decided(Decision::Forward)
        }
        Event::Cancel(id) => {
            let late = ledger.settle(*id, Decision::Forward);
            assert!(late.is_err(), "the host has it back");
            *taken.lock().unwrap() += 1;
            Reaction::Told
        }
        _ => Reaction::Told,
    })
}

#[test]
fn a_message_that_would_have_been_held_passes_at_once_and_is_told_when_it_is_settled() {
    let taken = Arc::default();
    let mut router = dry(vec![holds(&taken)]);
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent), [SENT]);
    let go = r#"{"jsonrpc":"2.0","method":"go"}"#;
    client(&mut router, go);
    assert_eq!(received(&mut router, Peer::Agent), [go]);
    assert!(router.next_timer().is_none(), "it is settled");
    ends_with(
        &mut router,
        "the proxy `holds` would have refused the request `session/prompt`",
    );
    assert_eq!(*taken.lock().unwrap(), 0);
}

#[test]
fn a_message_that_would_have_been_held_for_too_long_is_taken_away() {
    let taken = Arc::default();
    let mut router = dry(vec![holds(&taken)]);
    client(&mut router, PROMPT);
    router.advance(router.next_timer().expect("it may not hold it for ever"));
    router.pump(1000);
    assert_eq!(*taken.lock().unwrap(), 1);
    ends_with(
        &mut router,
        "the proxy `holds` would have held the request `session/prompt` for too long",
    );
}

#[test]
fn a_proxy_that_fails_on_a_message_or_breaks_lets_it_pass() {
    let fails = scripted("fails", "m", |_, _| Reaction::Refused("why".to_owned()));
    let breaks = scripted("breaks", "n", |_, _| Reaction::Broke("trap"));
    let mut router = dry(vec![fails, breaks]);
    client(&mut router, PROMPT);
    for method in ["m", "n", "n"] {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        received(&mut router, Peer::Agent);
        client(&mut router, &line);
        assert_eq!(received(&mut router, Peer::Agent), [line]);
    }
    let broke = "the proxy `breaks` broke: trap. It is given up: from now on, all messages pass without it.";
    assert_eq!(received(&mut router, Peer::Client), [notice(1, broke)]);
    agent(&mut router, ANSWER);
    let told = "in this dry run, the proxy `fails` would have failed on the notification `m`.";
    assert_eq!(
        received(&mut router, Peer::Client),
        [&*notice(2, told), ANSWERED]
    );
}

#[test]
fn an_ambiguous_message_passes_a_guard() {
    let mut router = dry(vec![guard(forwards("*"))]);
    client(&mut router, PROMPT);
    let line = r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","SessionId":"t"}}"#;
    agent(&mut router, line);
    assert_eq!(received(&mut router, Peer::Client), [line]);
    ends_with(
        &mut router,
        "the proxy `forwards` would have refused the notification `m`",
    );
}

#[test]
fn the_agent_is_offered_nothing() {
    let mut tools = forwards("none");
    tools.registration.offers = [Offer::Tools].into_iter().collect();
    let mut router = dry(vec![tools]);
    let version = r#"{"protocolVersion":1}"#;
    client(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{version}}}"#),
    );
    agent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{version}}}"#),
    );
    received(&mut router, Peer::Agent);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
    );
    let setup = received(&mut router, Peer::Agent).concat();
    assert!(setup.contains(r#""mcpServers":[]"#), "{setup}");
}

#[test]
fn each_turn_is_told_its_own() {
    let mut router = dry(vec![says("m", Decision::Discard)]);
    client(&mut router, PROMPT);
    let other = PROMPT
        .replace(r#""p""#, r#""q""#)
        .replace(r#""s""#, r#""t""#);
    client(&mut router, &other);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
    );
    received(&mut router, Peer::Client);
    agent(&mut router, &ANSWER.replace(r#""id":1"#, r#""id":2"#));
    let answered = ANSWERED.replace(r#""p""#, r#""q""#);
    assert_eq!(received(&mut router, Peer::Client), [answered]);
    ends_with(
        &mut router,
        "the proxy `says` would have dropped the notification `m`",
    );
}

#[test]
fn in_version_2_the_turn_ends_when_the_session_is_idle() {
    let mut router = dry(vec![
        says("session/prompt", Decision::Discard),
        forwards("*"),
    ]);
    let version = r#"{"protocolVersion":2}"#;
    client(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{version}}}"#),
    );
    agent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{version}}}"#),
    );
    client(&mut router, PROMPT);
    received(&mut router, Peer::Client);
    let accepted = r#"{"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}}"#;
    agent(&mut router, accepted);
    let passed = accepted.replace(r#""id":2"#, r#""id":"p""#);
    assert_eq!(received(&mut router, Peer::Client), [passed]);
    let idle = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle"}}}"#;
    agent(&mut router, idle);
    let told = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"notice","severity":"warning","title":"acp-chain: in this dry run, the proxy `says` would have failed on the request `session/prompt`."}}}"#;
    assert_eq!(received(&mut router, Peer::Client), [told, idle]);
}
