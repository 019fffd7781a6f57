//! Proxies that join, and leave with the last session of their project.

use super::super::sessions::{SeenMessages, taken, watches};
use super::{agent, client, closed, finds_all, opened, received, setup, update, wanted, watched};
use crate::Member;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::PROJECT_PROXIES;

#[test]
fn proxies_leave_with_the_last_session_of_their_project_and_may_join_again() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    let mut kept = Vec::new();
    for round in 0..3 {
        let number = 1 + 2 * round;
        opened(&mut router, number, "s", "/one", &seen);
        assert_eq!(
            (router.core.hops.len(), router.core.joined.is_empty()),
            (2, false)
        );
        agent(&mut router, &update("s", "x"));
        assert_eq!(
            taken(&seen),
            ["/one: session/update in s", "own: session/update in s"]
        );
        closed(&mut router, number + 1, "s");
        assert!(router.core.joined.is_empty());
        taken(&seen);
        agent(&mut router, &update("s", "x"));
        assert_eq!(taken(&seen), ["own: session/update in s"]);
        kept.push(router.core.kept.kept());
        received(&mut router, Peer::Client);
    }
    assert_eq!(kept, [0, 0, 0]);
}

#[test]
fn proxies_stay_as_long_as_something_of_their_sessions_is_open() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    opened(&mut router, 2, "t", "/two", &seen);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"q","method":"asked","params":{"sessionId":"s"}}"#,
    );
    received(&mut router, Peer::Client);
    closed(&mut router, 4, "s");
    taken(&seen);
    client(&mut router, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(taken(&seen), ["own: asked in s", "/one: asked in s"]);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    // The place is free for another proxy; other proxies keep their places.
    opened(&mut router, 5, "u", "/three", &seen);
    assert_eq!(router.core.hops.len(), 3);
    for (session, project) in [("t", "/two"), ("u", "/three")] {
        agent(&mut router, &update(session, "x"));
        assert_eq!(
            taken(&seen)[0],
            format!("{project}: session/update in {session}")
        );
    }
}

#[test]
fn a_project_whose_session_does_not_begin_leaves_too() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    client(&mut router, &setup(1, "new", None, "/p"));
    wanted(&mut router);
    finds_all(&mut router, 1, "/p", vec![watches("p", &seen).into()]).unwrap();
    assert!(!router.core.joined.is_empty());
    super::fails(&mut router, 1);
    assert!(router.core.joined.is_empty());
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
}

#[test]
fn no_more_proxies_join_than_there_is_room_for() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    let many = |count| -> Vec<Member> {
        let proxies = (0..count).map(|_| watches("p", &SeenMessages::default()).into());
        proxies.collect()
    };
    for (number, count, fits) in [(1, PROJECT_PROXIES - 1, true), (2, 2, false), (3, 1, true)] {
        client(&mut router, &setup(number, "new", None, "/p"));
        wanted(&mut router);
        let joined = finds_all(&mut router, number, &format!("/{number}"), many(count));
        assert_eq!(joined.is_ok(), fits, "{number}");
        if let Err(failure) = joined {
            assert!(
                failure.reason.contains("close sessions of other projects"),
                "{failure}"
            );
            router.refuse_session(number, failure.reason);
        }
    }
    assert_eq!(router.core.hops.len(), 1 + PROJECT_PROXIES);
    assert_eq!(received(&mut router, Peer::Agent).len(), 2);
}
