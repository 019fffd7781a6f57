//! Native proxies of projects, and those of the user that sessions with projects pass.

use super::super::native::{INITIALIZE, native, says, sent_to};
use super::super::sessions::{SeenMessages, taken, watches};
use super::{agent, begins, client, finds, received, setup, wanted, watched, with};
use crate::router::Router;
use acp_chain_channel::{Failure, FailurePolicy, Peer};
use acp_chain_hops::native_peer::Order;

const BEGUN: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#;

/// A router in which the connection has begun, and a session waits for a program that joins at place 1.
fn joining(seen: &SeenMessages, on_failure: FailurePolicy) -> Router {
    let mut router = watched(seen);
    client(&mut router, INITIALIZE);
    agent(&mut router, BEGUN);
    received(&mut router, Peer::Client);
    received(&mut router, Peer::Agent);
    client(&mut router, &setup(2, "new", None, "/p"));
    wanted(&mut router);
    finds(&mut router, 2, "p", native("n", on_failure));
    router
}

#[test]
fn a_program_that_joins_gets_the_clients_first_message_and_no_other_part_does() {
    let seen = SeenMessages::default();
    let mut router = joining(&seen, FailurePolicy::Refuse);
    let first =
        r#"{"jsonrpc":"2.0","id":3,"method":"proxy/initialize","params":{"protocolVersion":1}}"#;
    assert_eq!(sent_to(&mut router, 1), [first]);
    taken(&seen);
    let initialize = r#"{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize","params":{}}}"#;
    says(&mut router, 1, initialize);
    let known = sent_to(&mut router, 1);
    assert_eq!(known.len(), 1);
    assert!(
        known[0].contains(r#""id":"i","result":{"protocolVersion":1"#),
        "{known:?}"
    );
    // Messages for the program wait until it has begun.
    says(&mut router, 1, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    let asked = sent_to(&mut router, 1);
    let expected = r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/p"}}"#;
    assert_eq!(asked, [expected]);
    assert!(taken(&seen).is_empty());
    assert!(received(&mut router, Peer::Agent).is_empty());

    let own = r#"{"jsonrpc":"2.0","id":"o","method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/p"}}}"#;
    says(&mut router, 1, own);
    let left = received(&mut router, Peer::Agent);
    assert_eq!(
        left,
        [r#"{"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":"/p"}}"#]
    );
    begins(&mut router, 4, "s");
    assert_eq!(sent_to(&mut router, 1).len(), 1);
    // In a session of which the client has no answer yet.
    let news = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}"#;
    agent(&mut router, news);
    assert_eq!(sent_to(&mut router, 1).len(), 1);
    says(&mut router, 1, news);
    assert_eq!(received(&mut router, Peer::Client), [news]);
    says(
        &mut router,
        1,
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
    );
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
}

#[test]
fn a_session_does_not_begin_without_a_program_that_it_relies_on() {
    for on_failure in [FailurePolicy::Refuse, FailurePolicy::Bypass] {
        let seen = SeenMessages::default();
        let mut router = joining(&seen, on_failure);
        router.native_broke(1, &Failure::new("it exited with code 7"));
        router.pump(1000);
        let answers = received(&mut router, Peer::Client);
        let answers: Vec<_> = answers
            .iter()
            .filter(|line| line.contains(r#""id":2"#))
            .collect();
        assert_eq!(answers.len(), 1);
        for expected in [
            "`n` of the project `p` failed on session/new",
            "exited with code 7",
        ] {
            assert!(answers[0].contains(expected), "{answers:?}");
        }
        assert!(received(&mut router, Peer::Agent).is_empty());
        assert!(
            router.core.joined.is_empty(),
            "it is tried anew with the next session"
        );
    }
}

#[test]
fn a_program_that_joined_is_removed_with_the_last_session() {
    let seen = SeenMessages::default();
    let mut router = joining(&seen, FailurePolicy::Refuse);
    says(&mut router, 1, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    says(
        &mut router,
        1,
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
    );
    sent_to(&mut router, 1);
    received(&mut router, Peer::Client);
    let close = r#"{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s"}}"#;
    client(&mut router, close);
    says(&mut router, 1, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
    assert_eq!(
        router.natives(),
        [1],
        "the program has not read all its messages yet"
    );
    assert_eq!(sent_to(&mut router, 1).len(), 1);
    router.pump(1);
    assert!(router.natives().is_empty(), "{router:?}");
    assert_eq!(router.take_orders(), [Order::Remove(1)]);
    assert_eq!(router.core.kept.kept(), 0);
}

/// A program of the user repeats the request for a session.
fn repeats_request(router: &mut Router, id: &str, cwd: &str) {
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"proxy/successor","params":{{"method":"session/new","params":{{"cwd":"{cwd}"}}}}}}"#
    );
    says(router, 0, &line);
}

#[test]
fn a_repeated_request_of_a_program_takes_the_route_of_the_clients() {
    for (first, second) in [("/one", "/two"), ("/two", "/one")] {
        let seen = SeenMessages::default();
        let mut router = with(vec![native("n", FailurePolicy::Refuse)]);
        for (id, cwd) in [(1, "/one"), (2, "/two")] {
            client(&mut router, &setup(id, "new", None, cwd));
            wanted(&mut router);
            finds(&mut router, id, cwd, watches(cwd, &seen));
        }
        // In either order.
        repeats_request(&mut router, "a", first);
        repeats_request(&mut router, "b", second);
        let passed = [first, second].map(|cwd| format!("{cwd}: session/new in none"));
        assert_eq!(taken(&seen), passed);
        assert_eq!(received(&mut router, Peer::Agent).len(), 2);
    }
    // A program that names another folder repeats them one after the other.
    let seen = SeenMessages::default();
    let mut router = with(vec![native("n", FailurePolicy::Refuse)]);
    for (id, cwd) in [(1, "/one"), (2, "/two")] {
        client(&mut router, &setup(id, "new", None, cwd));
        wanted(&mut router);
        finds(&mut router, id, cwd, watches(cwd, &seen));
    }
    for (id, cwd) in [("a", "/mapped/one"), ("b", "/mapped/two")] {
        repeats_request(&mut router, id, cwd);
    }
    assert_eq!(
        taken(&seen),
        ["/one: session/new in none", "/two: session/new in none"]
    );
}

#[test]
fn messages_of_a_program_in_a_session_that_it_has_loaded_take_its_route() {
    let seen = SeenMessages::default();
    let mut router = with(vec![native("n", FailurePolicy::Refuse)]);
    client(&mut router, &setup(1, "load", Some("s"), "/p"));
    wanted(&mut router);
    finds(&mut router, 1, "/p", watches("p", &seen));
    for (method, params) in [
        ("session/load", r#"{"sessionId":"s","cwd":"/p"}"#),
        ("session/prompt", r#"{"sessionId":"s"}"#),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"{method}","method":"proxy/successor","params":{{"method":"{method}","params":{params}}}}}"#
        );
        says(&mut router, 0, &line);
    }
    assert_eq!(
        taken(&seen),
        ["p: session/load in s", "p: session/prompt in s"]
    );
}
