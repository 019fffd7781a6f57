//! Sessions with routes of their own.

use std::sync::{Arc, Mutex};

use super::{PROMPT, Reaction, agent, client, received, scripted, update};
use crate::Proxy;
use crate::router::Router;
use acp_chain_channel::limits::KEPT;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_hops::route::Route;

/// The messages that proxies saw, each with the proxy.
pub(super) type SeenMessages = Arc<Mutex<Vec<String>>>;

pub(super) fn watches(name: &'static str, seen: &SeenMessages) -> Proxy {
    let seen = seen.clone();
    scripted(name, "*", move |event, _| match event {
        Event::Message(delivery) => {
            let session = delivery.session.as_deref().unwrap_or("none");
            let what = format!("{name}: {} in {session}", delivery.method);
            seen.lock().unwrap().push(what);
            Reaction::Decided(Decision::Forward)
        }
        _ => Reaction::Told,
    })
}

pub(super) fn taken(seen: &SeenMessages) -> Vec<String> {
    std::mem::take(&mut seen.lock().unwrap())
}

/// Two proxies that see everything.
fn two(seen: &SeenMessages) -> Router {
    Router::new(vec![watches("a", seen), watches("b", seen)], None)
}

#[test]
fn a_session_has_the_route_of_its_setup_until_it_is_closed() {
    let seen = SeenMessages::default();
    let mut router = two(&seen);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}"#,
    );
    // The request takes this route.
    router.core.exchanges.get_mut(1).unwrap().route = Route::new([1]);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
    );
    taken(&seen);

    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "of its own way"));
    agent(&mut router, &update("t", "of all"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    let passed = [
        "b: session/prompt in s",
        "b: session/update in s",
        "b: session/update in t",
        "a: session/update in t",
        "b: session/prompt in s",
    ];
    assert_eq!(taken(&seen), passed);
    assert_eq!(received(&mut router, Peer::Client).len(), 4);

    let close = r#"{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s"}}"#;
    client(&mut router, close);
    agent(&mut router, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    taken(&seen);
    client(&mut router, PROMPT);
    let passed = ["a: session/prompt in s", "b: session/prompt in s"];
    assert_eq!(taken(&seen), passed);
}

#[test]
fn a_request_of_a_proxy_in_a_session_with_another_route_is_refused() {
    let answers = SeenMessages::default();
    let heard_back = answers.clone();
    let asks = scripted("asks", "t", move |event, ledger| match event {
        Event::Message(_) => {
            let params = r#"{"sessionId":"s"}"#;
            ledger.request(Peer::Agent, "own", params).unwrap();
            ledger.notify(Peer::Agent, "own", params).unwrap();
            Reaction::Decided(Decision::Forward)
        }
        Event::Answer(delivery) => {
            let said = delivery.message.body().to_owned();
            heard_back.lock().unwrap().push(said);
            Reaction::Told
        }
        _ => Reaction::Told,
    });
    let mut router = Router::new(vec![asks], None);
    let (name, own) = ("s".into(), Route::new([]));
    assert!(router.core.sessions.begin(Peer::Agent, &name, &own, None));
    client(&mut router, r#"{"jsonrpc":"2.0","method":"t"}"#);
    let got = taken(&answers);
    assert_eq!(got.len(), 1);
    assert!(got[0].contains("does not pass this proxy"), "{got:?}");
    let left = received(&mut router, Peer::Agent);
    assert_eq!(left, [r#"{"jsonrpc":"2.0","method":"t"}"#]);
}

#[test]
fn a_session_that_cannot_be_kept_is_refused() {
    let seen = SeenMessages::default();
    let mut router = two(&seen);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}"#,
    );
    router.core.exchanges.get_mut(1).unwrap().route = Route::new([1]);
    let others = router.core.kept.charge_anyway(KEPT);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
    );
    drop(others);
    let got = received(&mut router, Peer::Client).concat();
    assert!(got.contains("close some of them first"), "{got}");
}
