//! Tool runs that the agent's hooks report: proxies decide about them, and no end sends or receives them.

use super::guards::guard;
use super::{PROMPT, Reaction, agent, client, forwards, received, scripted};
use crate::Proxy;
use crate::router::{HookOutcome, Router};
use acp_chain_acp::BEFORE_TOOL;
use acp_chain_channel::{Decision, Event, MessageId, Peer};
use acp_chain_rpc::{Error, Message};

pub(super) const RUN: &str =
    r#"{"sessionId":"s","toolCall":{"title":"Bash","rawInput":{"command":"make"}}}"#;

pub(super) fn report(router: &mut Router, number: u64, params: &str) {
    router.receive_from_hook(number, Message::request(BEFORE_TOOL, params));
    router.pump(1000);
}

/// The outcomes, as the parameters that passed or the reason of the refusal.
pub(super) fn outcomes(router: &mut Router) -> Vec<(u64, Result<String, String>)> {
    let outcomes = router.take_hook_outcomes().into_iter();
    let shown = outcomes.map(|(number, outcome)| match outcome {
        HookOutcome::Passed(message) => (number, Ok(message.body().to_owned())),
        HookOutcome::Refused(reason) => (number, Err(reason)),
    });
    shown.collect()
}

fn are_silent(router: &mut Router) -> bool {
    let ends = [Peer::Client, Peer::Agent];
    ends.into_iter().all(|end| received(router, end).is_empty())
}

#[test]
fn a_report_that_no_proxy_refuses_passes_and_no_end_sees_it() {
    for proxies in [
        vec![],
        vec![forwards("*"), forwards("m"), guard(forwards("*"))],
    ] {
        let mut router = Router::new(proxies, None);
        report(&mut router, 1, RUN);
        assert_eq!(outcomes(&mut router), [(1, Ok(RUN.to_owned()))]);
        assert!(are_silent(&mut router));
    }
}

#[test]
fn what_passes_is_what_the_proxies_made_of_it_and_the_agents_neighbour_sees_it_first() {
    let signs = |name: &'static str| {
        scripted(name, BEFORE_TOOL, move |event, _| match event {
            Event::Message(delivery) => {
                let body = delivery.message.body();
                let signed = format!(r#"{},"{name}":1}}"#, &body[..body.len() - 1]);
                Reaction::Decided(Decision::Replace(signed))
            }
            _ => Reaction::Told,
        })
    };
    let mut router = Router::new(vec![signs("far"), signs("near")], None);
    report(&mut router, 1, r#"{"toolCall":{"rawInput":{}}}"#);
    let [(1, Ok(passed))] = &outcomes(&mut router)[..] else {
        panic!("it did not pass");
    };
    assert!(passed.find("near") < passed.find("far"), "{passed}");
}

#[test]
fn a_proxy_refuses_a_report_with_its_reason() {
    let refuses = scripted("guard", BEFORE_TOOL, |_, _| {
        Reaction::Decided(Decision::Reject(Error::new(7, "not on Fridays")))
    });
    let mut router = Router::new(vec![forwards("*"), guard(refuses)], None);
    report(&mut router, 5, RUN);
    assert_eq!(
        outcomes(&mut router),
        [(5, Err("not on Fridays".to_owned()))]
    );
    assert!(are_silent(&mut router));
}

#[test]
fn a_guard_that_breaks_or_could_be_misled_refuses_a_report() {
    let breaks = scripted("guard", "*", |_, _| Reaction::Broke("planned"));
    let twice =
        r#"{"sessionId":"s","toolCall":{"rawInput":{}},"toolCall":{"rawInput":{"command":"rm"}}}"#;
    for (proxy, params) in [(breaks, RUN), (forwards("*"), twice)] {
        let mut router = Router::new(vec![guard(proxy)], None);
        report(&mut router, 1, params);
        let [(1, Err(reason))] = &outcomes(&mut router)[..] else {
            panic!("it was not refused");
        };
        assert!(
            reason.contains("guard") || reason.contains("forwards"),
            "{reason}"
        );
    }
}

#[test]
fn a_stop_of_the_turn_refuses_a_report_that_a_guard_holds() {
    let holds = scripted("guard", BEFORE_TOOL, |event, _| match event {
        Event::Message(_) => Reaction::Decided(Decision::Hold),
        _ => Reaction::Told,
    });
    let mut router = Router::new(vec![guard(holds)], None);
    client(&mut router, PROMPT);
    report(&mut router, 1, RUN);
    assert!(outcomes(&mut router).is_empty());
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
    );
    // The guard was notified, and still has to settle it; it never passes.
    router.lose(Peer::Client, &Error::new(1, "the client has disconnected"));
    router.cancel_of_hook(1);
    assert!(
        outcomes(&mut router)
            .iter()
            .all(|(_, outcome)| outcome.is_err())
    );
}

/// A guard that asks the user about each tool run, and refuses it unless the answer is `allow`.
pub(super) fn asks() -> Proxy {
    let mut held = Vec::<MessageId>::new();
    let asks = scripted("guard", "*", move |event, ledger| {
        let is_allowed = match event {
            Event::Message(delivery) if &*delivery.method == BEFORE_TOOL => {
                let method = "session/request_permission";
                ledger.request(Peer::Client, method, QUESTION).unwrap();
                held.push(delivery.id);
                return Reaction::Decided(Decision::Hold);
            }
            Event::Message(_) => return Reaction::Decided(Decision::Forward),
            Event::Answer(delivery) => delivery.message.body().contains("allow"),
            _ => false,
        };
        for id in held.drain(..) {
            let refusal = Decision::Reject(Error::new(-32800, "Request cancelled"));
            let decision = if is_allowed {
                Decision::Forward
            } else {
                refusal
            };
            ledger.settle(id, decision).unwrap();
        }
        Reaction::Told
    });
    guard(asks)
}

pub(super) const QUESTION: &str = r#"{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}"#;

/// A router whose guard has asked the user about a report.
fn asked() -> Router {
    let mut router = Router::new(vec![forwards("*"), asks()], None);
    client(&mut router, PROMPT);
    report(&mut router, 1, RUN);
    assert!(outcomes(&mut router).is_empty());
    let question = format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{QUESTION}}}"#
    );
    assert_eq!(received(&mut router, Peer::Client), [question]);
    received(&mut router, Peer::Agent);
    router
}

#[test]
fn a_guard_asks_the_user_while_the_hook_waits() {
    for (option, expected) in [
        ("allow", Ok(RUN.to_owned())),
        ("deny", Err("Request cancelled".to_owned())),
    ] {
        let mut router = asked();
        client(
            &mut router,
            &format!(
                r#"{{"jsonrpc":"2.0","id":3,"result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}}}"#
            ),
        );
        assert_eq!(outcomes(&mut router), [(1, expected)]);
        assert!(are_silent(&mut router));
    }
}

#[test]
fn a_stop_of_the_turn_refuses_a_report_about_which_the_user_is_asked() {
    let mut router = asked();
    let stop = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    client(&mut router, stop);
    let refused = Err("Request cancelled".to_owned());
    assert_eq!(outcomes(&mut router), [(1, refused)]);
    assert_eq!(received(&mut router, Peer::Agent), [stop]);
    // The client answers as the protocol wants, and nothing is decided again.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"cancelled"}}}"#,
    );
    assert!(outcomes(&mut router).is_empty() && are_silent(&mut router));
}

#[test]
fn reports_of_the_ends_are_refused() {
    let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{BEFORE_TOOL}","params":{RUN}}}"#);
    let mut router = Router::new(vec![forwards("*")], None);
    agent(&mut router, &line);
    let refused = received(&mut router, Peer::Agent).remove(0);
    assert!(
        refused.contains(r#""id":7,"error":{"code":-32600"#),
        "{refused}"
    );
    client(&mut router, &line);
    let refused = received(&mut router, Peer::Client).remove(0);
    assert!(
        refused.contains(r#""id":7,"error":{"code":-32600"#),
        "{refused}"
    );
    assert!(outcomes(&mut router).is_empty());
}
