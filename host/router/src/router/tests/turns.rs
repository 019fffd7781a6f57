//! Turns that are stopped while a proxy holds the prompt.

use super::hooks::{outcomes, report};
use super::native::{native, says};
use super::{PROMPT, Reaction, agent, client, forwards, received, scripted, under, update};
use crate::router::Router;
use crate::{Member, Proxy, Terms};
use acp_chain_acp::BEFORE_TOOL;
use acp_chain_channel::{Decision, Event, FailurePolicy, Grant, MessageId, Peer};
use acp_chain_rpc as rpc;

const STOP: &str = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
const WITHDRAW: &str =
    r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#;
const STOPPED: &str = r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"cancelled"}}"#;
const WITHDRAWN: &str =
    r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"Request cancelled"}}"#;

/// A proxy that holds prompts and permission requests, and settles them like this when they are cancelled, or on the
/// message `go`.
fn holds(settle: impl Fn() -> Decision + Send + 'static, when: &'static str) -> Proxy {
    let mut held = Vec::<MessageId>::new();
    scripted("holds", "*", move |event, ledger| {
        let comes = match event {
            Event::Message(delivery)
                if ["session/prompt", "session/request_permission"]
                    .contains(&&*delivery.method) =>
            {
                held.push(delivery.id);
                return Reaction::Decided(Decision::Hold);
            }
            Event::Message(delivery) => (&*delivery.method == when, Decision::Forward),
            _ => (when == "cancelled", Decision::Forward),
        };
        if comes.0 {
            for id in held.drain(..) {
                ledger.settle(id, settle()).unwrap();
            }
        }
        match event {
            Event::Message(_) => Reaction::Decided(comes.1),
            _ => Reaction::Told,
        }
    })
}

fn cancelled() -> Decision {
    Decision::Reject(rpc::Error::new(-32800, "Request cancelled"))
}

#[test]
fn a_held_prompt_is_cancelled_and_never_reaches_the_agent() {
    for on_the_way in [false, true] {
        let mut chain = vec![holds(cancelled, "cancelled")];
        if on_the_way {
            chain.insert(0, forwards("*"));
            chain.push(forwards("*"));
        }
        let mut router = Router::new(chain, None);
        client(&mut router, PROMPT);
        client(&mut router, STOP);
        assert_eq!(received(&mut router, Peer::Client), [STOPPED]);
        assert_eq!(received(&mut router, Peer::Agent), [STOP]);
    }
}

/// The answer to a notification that was sent as a request.
const ANSWERED: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;

#[test]
fn a_notification_as_a_request_is_answered_and_passes_every_proxy() {
    let as_request =
        |line: &str| line.replacen(r#""jsonrpc":"2.0""#, r#""jsonrpc":"2.0","id":7"#, 1);
    let of_lsp = r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"p"}}"#;
    for (got, agent_hears, outcome) in [
        (STOP, vec![STOP], STOPPED),
        (WITHDRAW, vec![], WITHDRAWN),
        (of_lsp, vec![], WITHDRAWN),
    ] {
        let mut guard = forwards("*");
        guard.registration.guard = true;
        let mut router = Router::new(vec![guard, holds(cancelled, "cancelled")], None);
        client(&mut router, PROMPT);
        client(&mut router, &as_request(got));
        assert_eq!(received(&mut router, Peer::Client), [ANSWERED, outcome]);
        assert_eq!(received(&mut router, Peer::Agent), agent_hears);
    }
    // In a batch, the answer is part of it; no request is open under the id.
    let mut router = Router::new(vec![forwards("*")], None);
    router.begin_batch(Peer::Client);
    client(&mut router, &as_request(STOP));
    router.end_batch(Peer::Client);
    assert_eq!(
        received(&mut router, Peer::Client),
        [format!("[{ANSWERED}]")]
    );
    client(&mut router, &as_request(STOP));
    assert_eq!(received(&mut router, Peer::Client), [ANSWERED]);
}

#[test]
fn an_update_with_an_id_passes_as_the_notification_that_it_is_and_as_often_as_it_comes() {
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}"#;
    for (id, answers) in [("null", vec![]), ("7", vec![ANSWERED; 2])] {
        let with_id = format!(r#""jsonrpc":"2.0","id":{id}"#);
        let line = update.replacen(r#""jsonrpc":"2.0""#, &with_id, 1);
        let mut guard = forwards("*");
        guard.registration.guard = true;
        let mut router = Router::new(vec![forwards("*"), guard], None);
        agent(&mut router, &line);
        agent(&mut router, &line);
        assert_eq!(received(&mut router, Peer::Client), [update; 2]);
        assert_eq!(received(&mut router, Peer::Agent), answers);
    }
    // The client does not have this notification, and other methods are requests with any id.
    let mut router = Router::new(vec![forwards("*")], None);
    let theirs = update.replacen(r#""jsonrpc":"2.0""#, r#""jsonrpc":"2.0","id":7"#, 1);
    client(&mut router, &theirs);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":null,"method":"_vendor/ask"}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [
            theirs.replace(r#""id":7"#, r#""id":1"#).as_str(),
            r#"{"jsonrpc":"2.0","id":2,"method":"_vendor/ask"}"#
        ]
    );
}

#[test]
fn a_stopped_prompt_is_not_sent_on_later() {
    let edit = || Decision::Replace(r#"{"sessionId":"s","prompt":[]}"#.to_owned());
    for settle in [|| Decision::Forward, edit] {
        let mut router = Router::new(vec![holds(settle, "go"), forwards("*")], None);
        client(&mut router, PROMPT);
        client(&mut router, STOP);
        assert!(received(&mut router, Peer::Client).is_empty());
        client(&mut router, r#"{"jsonrpc":"2.0","method":"go"}"#);
        assert_eq!(received(&mut router, Peer::Client), [STOPPED]);
        let go = r#"{"jsonrpc":"2.0","method":"go"}"#;
        assert_eq!(received(&mut router, Peer::Agent), [STOP, go]);
    }
}

#[test]
fn the_proxy_may_answer_a_stopped_prompt_itself() {
    let refusal = r#"{"stopReason":"refusal"}"#;
    let says = move || Decision::Respond(refusal.to_owned());
    let mut router = Router::new(vec![holds(says, "cancelled")], None);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":"p","result":{refusal}}}"#);
    assert_eq!(received(&mut router, Peer::Client), [answer]);
}

#[test]
fn only_the_turn_of_that_session_is_stopped() {
    let mut router = Router::new(vec![holds(|| Decision::Forward, "go")], None);
    client(&mut router, PROMPT);
    let other = STOP.replace(r#""s""#, r#""other""#);
    let nobody = STOP.replace(r#"{"sessionId":"s"}"#, "{}");
    let go = r#"{"jsonrpc":"2.0","method":"go"}"#;
    for line in [&*other, &nobody, go] {
        client(&mut router, line);
    }
    assert!(received(&mut router, Peer::Client).is_empty());
    let lines = received(&mut router, Peer::Agent);
    assert!(
        lines.iter().any(|line| line.contains("session/prompt")),
        "{lines:?}"
    );
    // The next turn of a stopped session is a new one.
    let mut router = Router::new(vec![holds(cancelled, "cancelled")], None);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    assert_eq!(received(&mut router, Peer::Client), [STOPPED]);
    client(&mut router, STOP);
    let answer = STOPPED.replace(r#""p""#, r#""q""#);
    assert_eq!(received(&mut router, Peer::Client), [answer]);
}

#[test]
fn a_turn_that_is_withdrawn_too_ends_as_its_request_does() {
    for lines in [[STOP, WITHDRAW], [WITHDRAW, STOP]] {
        let mut router = Router::new(vec![holds(cancelled, "go")], None);
        for line in [
            PROMPT,
            lines[0],
            lines[1],
            r#"{"jsonrpc":"2.0","method":"go"}"#,
        ] {
            client(&mut router, line);
        }
        assert_eq!(received(&mut router, Peer::Client), [WITHDRAWN]);
    }
}

#[test]
fn a_proxy_that_fails_on_a_stopped_turn_does_not_let_it_pass() {
    let terms = Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Bypass,
        ..Terms::default()
    };
    let (breaks, _) = under(terms, "breaks", "session/prompt", |event, _| match event {
        Event::Message(delivery) if &*delivery.method == "session/prompt" => {
            Reaction::Decided(Decision::Hold)
        }
        _ => Reaction::Broke("it breaks"),
    });
    let mut router = Router::new(vec![breaks], None);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    let lines = received(&mut router, Peer::Client);
    assert!(lines.iter().any(|line| line == STOPPED), "{lines:?}");
    let lines = received(&mut router, Peer::Agent);
    assert!(lines.iter().all(|line| line == STOP), "{lines:?}");
}

#[test]
fn in_version_2_the_answer_to_a_stopped_prompt_is_an_error() {
    let mut router = Router::new(vec![holds(cancelled, "cancelled")], None);
    let initialize =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}"#;
    client(&mut router, initialize);
    received(&mut router, Peer::Agent);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}"#,
    );
    received(&mut router, Peer::Client);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    assert_eq!(received(&mut router, Peer::Client), [WITHDRAWN]);
    assert_eq!(received(&mut router, Peer::Agent), [STOP]);
}

#[test]
fn a_request_that_ends_a_session_stops_its_turns() {
    for method in ["session/close", "session/archive"] {
        let mut router = Router::new(vec![holds(cancelled, "cancelled")], None);
        client(&mut router, PROMPT);
        let ends = format!(
            r#"{{"jsonrpc":"2.0","id":"c","method":"{method}","params":{{"sessionId":"s"}}}}"#
        );
        client(&mut router, &ends);
        assert_eq!(received(&mut router, Peer::Client), [STOPPED]);
        let lines = received(&mut router, Peer::Agent);
        assert!(lines.len() == 1 && lines[0].contains(method), "{lines:?}");
    }
}

#[test]
fn a_permission_that_is_held_when_the_turn_is_stopped_is_cancelled() {
    let asks = r#"{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s"}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}"#;
    for (settle, when) in [
        (cancelled as fn() -> Decision, "cancelled"),
        (|| Decision::Forward, "cancelled"),
        (|| Decision::Forward, "go"),
    ] {
        let mut router = Router::new(vec![holds(settle, when)], None);
        agent(&mut router, asks);
        client(&mut router, STOP);
        client(&mut router, r#"{"jsonrpc":"2.0","method":"go"}"#);
        assert!(received(&mut router, Peer::Client).is_empty());
        let lines = received(&mut router, Peer::Agent);
        assert!(lines.iter().any(|line| line == answer), "{lines:?}");
    }
}

#[test]
fn no_proxy_allows_what_the_agent_asks_for_after_the_turn_was_stopped() {
    let asks = r#"{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s"}}"#;
    let answer = |outcome: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"q","result":{{"outcome":{{{outcome}}}}}}}"#)
    };
    let (cancelled, allowed) = (
        answer(r#""outcome":"cancelled""#),
        answer(r#""outcome":"selected","optionId":"y""#),
    );
    let allows = || {
        scripted("allows", "session/request_permission", |_, _| {
            let outcome = r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#;
            Reaction::Decided(Decision::Respond(outcome.to_owned()))
        })
    };
    for end in [STOP, WITHDRAW] {
        let mut router = Router::new(vec![forwards("*"), allows()], None);
        client(&mut router, PROMPT);
        client(&mut router, end);
        received(&mut router, Peer::Agent);
        agent(&mut router, asks);
        assert_eq!(received(&mut router, Peer::Agent), [cancelled.as_str()]);
        // The next prompt begins a turn of its own, whether or not the agent has ended the stopped one.
        client(&mut router, &PROMPT.replace(r#""p""#, r#""o""#));
        received(&mut router, Peer::Agent);
        agent(&mut router, asks);
        assert_eq!(received(&mut router, Peer::Agent), [allowed.as_str()]);
        assert!(received(&mut router, Peer::Client).is_empty());
    }
    // In version 2 the turn goes on when its prompt is answered.
    let mut chain = prompted_in_version_2_through(vec![allows()]);
    agent(&mut chain, TAKEN);
    client(&mut chain, STOP);
    received(&mut chain, Peer::Agent);
    agent(&mut chain, asks);
    assert_eq!(received(&mut chain, Peer::Agent), [cancelled.as_str()]);
    // Where no proxy sees the request, the client answers it.
    let mut router = Router::new(vec![forwards("other")], None);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    agent(&mut router, asks);
    assert_eq!(
        received(&mut router, Peer::Client),
        [asks.replace(r#""q""#, "2")]
    );
}

#[test]
fn a_question_of_a_stopped_turn_is_cancelled_and_a_tool_is_refused() {
    let accepts = scripted("accepts", "elicitation/create", |_, _| {
        Reaction::Decided(Decision::Respond(r#"{"action":"accept"}"#.to_owned()))
    });
    let mut router = Router::new(vec![accepts, forwards(BEFORE_TOOL)], None);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    received(&mut router, Peer::Agent);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"sessionId":"s"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}"#]
    );
    let run = r#"{"sessionId":"s","toolCall":{"rawInput":{}}}"#;
    report(&mut router, 1, run);
    assert_eq!(
        outcomes(&mut router),
        [(1, Err("Request cancelled".to_owned()))]
    );
}

#[test]
fn no_proxy_allows_what_the_agent_asks_for_after_another_proxy_has_stopped_the_turn() {
    let asks = r#"{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s"}}"#;
    let stops = || {
        scripted("stops", "session/update", |event, ledger| {
            if let Event::Message(_) = event {
                let sent = ledger.notify(Peer::Agent, "session/cancel", r#"{"sessionId":"s"}"#);
                sent.unwrap();
                return Reaction::Decided(Decision::Forward);
            }
            Reaction::Told
        })
    };
    let allows = || {
        scripted("allows", "session/request_permission", |_, _| {
            let outcome = r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#;
            Reaction::Decided(Decision::Respond(outcome.to_owned()))
        })
    };
    let mut first = Router::new(vec![stops(), allows()], None);
    client(&mut first, PROMPT);
    let mut second = prompted_in_version_2_through(vec![stops(), allows()]);
    agent(&mut second, TAKEN);
    for mut router in [first, second] {
        received(&mut router, Peer::Agent);
        agent(&mut router, asks);
        let allowed = received(&mut router, Peer::Agent).concat();
        assert!(allowed.contains("selected"), "{allowed}");
        agent(&mut router, &update("s", "it goes on"));
        assert_eq!(received(&mut router, Peer::Agent), [STOP]);
        agent(&mut router, asks);
        let cancelled = received(&mut router, Peer::Agent).concat();
        assert!(
            cancelled.contains(r#""outcome":"cancelled""#),
            "{cancelled}"
        );
    }
}

#[test]
fn a_native_proxy_cannot_end_the_turn_of_an_agent_that_works() {
    let allows = scripted("allows", "session/request_permission", |_, _| {
        let outcome = r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#;
        Reaction::Decided(Decision::Respond(outcome.to_owned()))
    });
    let chain = vec![
        Member::from(native("n", FailurePolicy::Refuse)),
        Member::from(allows),
    ];
    let mut router = Router::new(chain, None);
    let version = r#"{"protocolVersion":2}"#;
    client(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{version}}}"#),
    );
    says(
        &mut router,
        0,
        &format!(
            r#"{{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{{"method":"initialize","params":{version}}}}}"#
        ),
    );
    agent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":2,"result":{version}}}"#),
    );
    says(
        &mut router,
        0,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{version}}}"#),
    );
    client(&mut router, PROMPT);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":"q","method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"s"}}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":4,"result":{"messageId":"m"}}"#,
    );
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":3,"result":{"messageId":"m"}}"#,
    );
    assert!(router.is_awaited());
    let idle = r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle"}}"#;
    says(
        &mut router,
        0,
        &format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{idle}}}"#),
    );
    assert!(router.is_awaited(), "the agent works");
    // Nor can it, by that, let other proxies allow something after a stop.
    client(&mut router, STOP);
    received(&mut router, Peer::Agent);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}"#]
    );
}

#[test]
fn a_proxy_that_fails_on_a_stopped_turn_ends_it_as_the_protocol_does() {
    let mut held = Vec::<MessageId>::new();
    let gives_up = scripted("gives up", "*", move |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "session/prompt" => {
            held.push(delivery.id);
            Reaction::Decided(Decision::Hold)
        }
        Event::Message(_) => Reaction::Decided(Decision::Forward),
        _ => {
            for id in held.drain(..) {
                ledger.fail(id, "it has no answer").unwrap();
            }
            Reaction::Told
        }
    });
    let mut router = Router::new(vec![gives_up], None);
    client(&mut router, PROMPT);
    client(&mut router, STOP);
    assert_eq!(received(&mut router, Peer::Client), [STOPPED]);
}

#[test]
fn a_turn_that_was_stopped_or_cancelled_is_no_longer_awaited() {
    for end in [STOP, WITHDRAW] {
        let mut router = Router::new(vec![forwards("*")], None);
        client(&mut router, PROMPT);
        assert!(router.is_awaited() && router.is_owed(Peer::Client));
        client(&mut router, end);
        // An answer is still passed on.
        assert!(!router.is_awaited() && router.is_owed(Peer::Client));
    }
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, PROMPT);
    let other = STOP.replace(r#""s""#, r#""t""#);
    client(&mut router, &other);
    assert!(router.is_awaited());
}

/// The agent has the prompt of [`prompted_in_version_2`].
const TAKEN: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}}"#;

/// A chain of version 2 whose agent has yet to answer a prompt.
fn prompted_in_version_2() -> Router {
    prompted_in_version_2_through(vec![forwards("*")])
}

fn prompted_in_version_2_through(chain: Vec<Proxy>) -> Router {
    let mut router = Router::new(chain, None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}"#,
    );
    client(&mut router, PROMPT);
    router
}

#[test]
fn in_version_2_a_turn_is_awaited_until_the_client_knows_that_the_agent_is_idle() {
    let state = |state: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"state_update","state":"{state}"}}}}}}"#
        )
    };
    let begin = || {
        let mut router = prompted_in_version_2();
        agent(&mut router, TAKEN);
        agent(&mut router, &state("running"));
        assert!(router.is_awaited() && router.is_owed(Peer::Client));
        router
    };
    let mut router = begin();
    agent(&mut router, &state("idle"));
    assert!(!router.is_awaited() && !router.is_owed(Peer::Client));
    let mut router = begin();
    client(&mut router, STOP);
    assert!(!router.is_awaited() && router.is_owed(Peer::Client));
    // A later prompt joins the turn, which is awaited again.
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":3,"result":{"messageId":"m"}}"#,
    );
    assert!(router.is_awaited());
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}"#,
    );
    agent(&mut router, &state("idle"));
    assert!(!router.is_owed(Peer::Client));
}

#[test]
fn in_version_2_a_prompt_that_is_answered_after_its_session_has_ended_begins_no_turn() {
    let mut router = prompted_in_version_2();
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"c","method":"session/close","params":{"sessionId":"s"}}"#,
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    agent(&mut router, TAKEN);
    assert!(!router.is_owed(Peer::Client) && router.mcp.turns.is_empty());
}

#[test]
fn in_version_2_a_prompt_that_was_withdrawn_is_not_waited_for_when_it_is_answered() {
    let mut router = prompted_in_version_2();
    client(&mut router, WITHDRAW);
    agent(&mut router, TAKEN);
    assert!(router.is_owed(Peer::Client) && !router.is_awaited());
}
