//! The routes of sessions.

use super::super::guards::guard;
use super::super::sessions::{SeenMessages, taken, watches};
use super::super::{Reaction, scripted};
use super::{
    agent, begins, client, closed, fails, finds, finds_all, finds_none, opened, received, setup,
    update, wanted, watched, with,
};
use acp_chain_channel::{Decision, Event, Peer};

#[test]
fn a_session_passes_the_proxies_of_its_project_and_no_others() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    opened(&mut router, 2, "t", "/two", &seen);
    client(&mut router, &setup(3, "new", None, "/none"));
    assert_eq!(wanted(&mut router).len(), 1);
    finds_none(&mut router, 3);
    begins(&mut router, 3, "u");
    taken(&seen);
    for (session, passed) in [
        (
            "s",
            &["/one: session/update in s", "own: session/update in s"][..],
        ),
        (
            "t",
            &["/two: session/update in t", "own: session/update in t"],
        ),
        ("u", &["own: session/update in u"]),
    ] {
        agent(&mut router, &update(session, "x"));
        assert_eq!(taken(&seen), passed);
    }
    // Messages without a session pass the user's own proxies.
    client(&mut router, r#"{"jsonrpc":"2.0","method":"m"}"#);
    assert_eq!(taken(&seen), ["own: m in none"]);
}

#[test]
fn a_session_whose_name_cannot_be_decoded_passes_the_proxies_of_its_project() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, r"\ud800", "/one", &seen);
    agent(&mut router, &update(r"\ud800", "x"));
    let passed = taken(&seen);
    assert_eq!(passed.len(), 2, "{passed:?}");
}

/// Its messages would name no session, and pass the user's own proxies only.
#[test]
fn a_session_that_is_named_by_a_number_does_not_begin() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    client(&mut router, &setup(1, "new", None, "/one"));
    wanted(&mut router);
    finds(&mut router, 1, "/one", watches("/one", &seen));
    received(&mut router, Peer::Agent);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":7}}"#,
    );
    let refused = received(&mut router, Peer::Client).concat();
    let expected = "the agent names the session by something else than a text";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn sessions_of_one_project_share_its_proxies() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    client(&mut router, &setup(2, "new", None, "/one/deeper"));
    wanted(&mut router);
    assert!(!router.lacks(2, "/one"));
    router.found(2, Some("/one"));
    router.pump(1000);
    begins(&mut router, 2, "t");
    taken(&seen);
    agent(&mut router, &update("t", "x"));
    assert_eq!(
        taken(&seen),
        ["/one: session/update in t", "own: session/update in t"]
    );
    assert_eq!(router.core.hops.len(), 2);
}

#[test]
fn a_project_comes_before_the_users_guards_and_its_own_guards_come_last() {
    let seen = SeenMessages::default();
    let own = ["front", "guard", "behind"].map(|name| match name {
        "guard" => guard(watches(name, &seen)),
        _ => watches(name, &seen),
    });
    let mut router = with(own.into());
    client(&mut router, &setup(1, "new", None, "/p"));
    wanted(&mut router);
    let members = vec![
        guard(watches("its guard", &seen)).into(),
        watches("one", &seen).into(),
        watches("two", &seen).into(),
    ];
    finds_all(&mut router, 1, "/p", members).unwrap();
    let passed = ["front", "one", "two", "its guard", "guard", "behind"];
    assert_eq!(
        taken(&seen),
        passed.map(|name| format!("{name}: session/new in none"))
    );
}

#[test]
fn messages_of_the_agent_in_a_loaded_session_take_its_route_before_the_answer() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    client(&mut router, &setup(1, "load", Some("s"), "/p"));
    wanted(&mut router);
    finds(&mut router, 1, "/p", watches("p", &seen));
    taken(&seen);
    agent(&mut router, &update("s", "history"));
    assert_eq!(
        taken(&seen),
        ["p: session/update in s", "own: session/update in s"]
    );
    begins(&mut router, 1, "s");
    taken(&seen);
    agent(&mut router, &update("s", "news"));
    assert_eq!(
        taken(&seen),
        ["p: session/update in s", "own: session/update in s"]
    );
}

#[test]
fn a_session_that_a_proxy_renames_has_its_route_under_both_names() {
    let seen = SeenMessages::default();
    let renames = scripted("renames", "session/load", |event, _| match event {
        Event::Message(delivery) if !delivery.message.kind().is_response() => {
            let body = delivery.message.body().replace(r#""s""#, r#""theirs""#);
            Reaction::Decided(Decision::Replace(body))
        }
        _ => Reaction::Decided(Decision::Forward),
    });
    let mut router = with(vec![renames, watches("own", &seen)]);
    client(&mut router, &setup(1, "load", Some("s"), "/p"));
    wanted(&mut router);
    finds(&mut router, 1, "/p", watches("p", &seen));
    taken(&seen);
    agent(&mut router, &update("theirs", "history"));
    assert_eq!(
        taken(&seen),
        [
            "p: session/update in theirs",
            "own: session/update in theirs"
        ]
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
    );
    assert_eq!(taken(&seen), ["own: m in s", "p: m in s"]);
}

#[test]
fn a_setup_that_fails_leaves_the_routes_unchanged() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    client(&mut router, &setup(2, "resume", Some("s"), "/two"));
    wanted(&mut router);
    finds(&mut router, 2, "/two", watches("/two", &seen));
    taken(&seen);
    agent(&mut router, &update("s", "x"));
    assert_eq!(taken(&seen)[0], "/two: session/update in s");
    fails(&mut router, 2);
    taken(&seen);
    agent(&mut router, &update("s", "x"));
    assert_eq!(
        taken(&seen),
        ["/one: session/update in s", "own: session/update in s"]
    );
}

#[test]
fn a_session_that_is_set_up_again_takes_its_new_route_from_then_on() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    for (number, cwd) in [(2, "/two"), (3, "/none")] {
        client(&mut router, &setup(number, "resume", Some("s"), cwd));
        wanted(&mut router);
        match cwd {
            "/two" => finds(&mut router, number, cwd, watches(cwd, &seen)),
            _ => finds_none(&mut router, number),
        }
        begins(&mut router, number, "s");
        taken(&seen);
        client(
            &mut router,
            r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
        );
        match cwd {
            "/two" => assert_eq!(taken(&seen), ["own: m in s", "/two: m in s"]),
            _ => assert_eq!(taken(&seen), ["own: m in s"]),
        }
    }
}

#[test]
fn messages_of_the_agent_in_an_unknown_session_belong_to_the_open_setups() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "known", "/one", &seen);
    for id in [2, 3] {
        client(&mut router, &setup(id, "new", None, "/two"));
        wanted(&mut router);
        finds(&mut router, id, "/two", watches("/two", &seen));
    }
    taken(&seen);
    agent(&mut router, &update("new", "x"));
    agent(&mut router, &update("known", "x"));
    let passed = [
        "/two: session/update in new",
        "own: session/update in new",
        "/one: session/update in known",
        "own: session/update in known",
    ];
    assert_eq!(taken(&seen), passed);
    // The session would be ambiguous.
    client(&mut router, &setup(4, "new", None, "/none"));
    wanted(&mut router);
    finds_none(&mut router, 4);
    taken(&seen);
    agent(&mut router, &update("new", "x"));
    assert_eq!(taken(&seen), ["own: session/update in new"]);
}

#[test]
fn a_session_that_is_forked_keeps_its_route() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    client(&mut router, &setup(2, "fork", Some("s"), "/two"));
    wanted(&mut router);
    finds(&mut router, 2, "/two", watches("/two", &seen));
    let passed = ["own: session/fork in s", "/two: session/fork in s"];
    assert_eq!(taken(&seen), passed);
    begins(&mut router, 2, "t");
    taken(&seen);
    for (session, first) in [
        ("s", "/one: session/update in s"),
        ("t", "/two: session/update in t"),
    ] {
        agent(&mut router, &update(session, "x"));
        assert_eq!(taken(&seen)[0], first);
    }
}

#[test]
fn a_proxy_of_a_project_sends_nothing_outside_its_sessions() {
    let (seen, answers) = (SeenMessages::default(), SeenMessages::default());
    let heard_back = answers.clone();
    let speaks = scripted("speaks", "t", move |event, ledger| match event {
        Event::Message(_) => {
            for params in ["{}", r#"{"sessionId":"other"}"#, r#"{"sessionId":"s"}"#] {
                for to in [Peer::Agent, Peer::Client] {
                    ledger.request(to, "own", params).unwrap();
                    ledger.notify(to, "own", params).unwrap();
                }
            }
            Reaction::Decided(Decision::Forward)
        }
        Event::Answer(delivery) => {
            heard_back
                .lock()
                .unwrap()
                .push(delivery.message.body().to_owned());
            Reaction::Told
        }
        _ => Reaction::Told,
    });
    let mut router = watched(&seen);
    client(&mut router, &setup(1, "new", None, "/none"));
    wanted(&mut router);
    finds_none(&mut router, 1);
    begins(&mut router, 1, "other");
    client(&mut router, &setup(2, "new", None, "/p"));
    wanted(&mut router);
    finds(&mut router, 2, "/p", speaks);
    begins(&mut router, 2, "s");
    received(&mut router, Peer::Client);
    received(&mut router, Peer::Agent);
    taken(&seen);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"t","params":{"sessionId":"s"}}"#,
    );
    for (peer, count) in [(Peer::Agent, 3), (Peer::Client, 2)] {
        let lines = received(&mut router, peer);
        assert_eq!(lines.len(), count, "{lines:?}");
        assert!(
            lines.iter().all(|line| line.contains(r#""sessionId":"s""#)),
            "{lines:?}"
        );
    }
    let refused = taken(&answers);
    let of = |text: &str| {
        refused
            .iter()
            .filter(|answer| answer.contains(text))
            .count()
    };
    assert_eq!(refused.len(), 4, "{refused:?}");
    assert_eq!(of("the message names none"), 2, "{refused:?}");
    assert_eq!(of("does not pass this proxy"), 2, "{refused:?}");
    // Proxies on other routes have seen only messages in the session.
    let others = taken(&seen);
    assert!(
        others.iter().all(|what| what.ends_with(" in s")),
        "{others:?}"
    );
}

#[test]
fn an_announced_child_session_has_the_route_of_its_parent_until_that_ends() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    let announces = |session: &str, child: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"subagent_update","sessionId":"{child}"}}}}}}"#
        )
    };
    agent(&mut router, &announces("s", "c"));
    agent(&mut router, &announces("c", "d"));
    taken(&seen);
    for child in ["c", "d"] {
        agent(&mut router, &update(child, "x"));
        let passed = ["/one", "own"].map(|proxy| format!("{proxy}: session/update in {child}"));
        assert_eq!(taken(&seen), passed);
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"{child}"}}}}"#
        );
        client(&mut router, &cancel);
        let passed = ["own", "/one"].map(|proxy| format!("{proxy}: session/cancel in {child}"));
        assert_eq!(taken(&seen), passed);
    }
    closed(&mut router, 2, "s");
    taken(&seen);
    agent(&mut router, &update("d", "x"));
    assert_eq!(taken(&seen), ["own: session/update in d"]);
}

#[test]
fn a_session_that_is_deleted_goes_on_and_one_that_is_archived_ends() {
    for (method, passes) in [("delete", true), ("archive", false)] {
        let seen = SeenMessages::default();
        let mut router = watched(&seen);
        opened(&mut router, 1, "s", "/one", &seen);
        client(&mut router, &setup(2, method, Some("s"), "/one"));
        agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        taken(&seen);
        agent(&mut router, &update("s", "x"));
        let passed = taken(&seen);
        assert_eq!(
            passed.iter().any(|by| by.starts_with("/one")),
            passes,
            "{method}: {passed:?}"
        );
    }
}
