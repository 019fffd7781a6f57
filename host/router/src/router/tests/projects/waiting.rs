//! Messages that wait for a project, and for how long.

use super::super::PROMPT;
use super::super::native::INITIALIZE;
use super::super::sessions::{SeenMessages, taken, watches};
use super::{
    agent, begins, client, finds, finds_none, opened, received, setup, wanted, watched, with,
};
use crate::Member;
use crate::PATIENCE;
use crate::router::Router;
use acp_chain_channel::Peer;
use acp_chain_rpc::{Error, code};

const LOAD: u64 = 1;

fn loading() -> Router {
    let mut router = with(Vec::<Member>::new());
    client(&mut router, &setup(LOAD, "load", Some("s"), "/p"));
    assert_eq!(wanted(&mut router), [(LOAD, "/p".into())]);
    assert!(wanted(&mut router).is_empty(), "it is looked for once");
    router
}

fn methods(lines: &[String]) -> Vec<String> {
    let method = |line: &String| {
        let (_, rest) = line.split_once(r#""method":""#)?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    lines.iter().filter_map(method).collect()
}

#[test]
fn sessions_without_a_folder_or_without_lookups_do_not_wait() {
    let mut router = with(Vec::<Member>::new());
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":7}}"#,
    );
    let mut other = Router::new(Vec::<Member>::new(), None);
    client(&mut other, &setup(1, "new", None, "/p"));
    for router in [&mut router, &mut other] {
        assert!(wanted(router).is_empty());
        assert_eq!(received(router, Peer::Agent).len(), 1);
    }
}

#[test]
fn where_projects_are_required_no_session_begins_without_a_folder() {
    for cwd in ["", r#""cwd":null"#, r#""cwd":"\ud800""#] {
        let mut router = Router::new(Vec::<Member>::new(), None);
        router.find_projects(true);
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{{{cwd}}}}}"#);
        client(&mut router, &line);
        assert!(received(&mut router, Peer::Agent).is_empty());
        let refused = received(&mut router, Peer::Client).concat();
        let expected = "a session's working directory is not named";
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn later_messages_of_the_client_wait_behind_the_setup_in_order() {
    let mut router = loading();
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"q","method":"asked","params":{"sessionId":"s"}}"#,
    );
    received(&mut router, Peer::Client);
    let tells = |method: &str, session: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"sessionId":"{session}"}}}}"#)
    };
    client(&mut router, &tells("first", "s"));
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"by":"answer"}}"#,
    );
    client(&mut router, &tells("last", "s"));
    client(&mut router, &tells("other", "t"));
    client(&mut router, r#"{"jsonrpc":"2.0","method":"none"}"#);
    assert_eq!(
        methods(&received(&mut router, Peer::Agent)),
        ["other", "none"]
    );
    assert!(router.waiting() > 0);

    finds_none(&mut router, LOAD);
    let lines = received(&mut router, Peer::Agent);
    assert_eq!(
        methods(&lines),
        ["session/load", "first", "session/prompt", "last"]
    );
    assert!(lines[3].contains(r#""by":"answer""#), "{lines:?}");
    assert_eq!((router.waiting(), router.core.kept.kept() > 0), (0, true));
}

#[test]
fn a_second_setup_of_a_session_is_looked_up_after_the_first() {
    let mut router = loading();
    client(&mut router, &setup(2, "load", Some("s"), "/q"));
    client(&mut router, PROMPT);
    assert!(wanted(&mut router).is_empty());
    finds_none(&mut router, LOAD);
    assert_eq!(
        methods(&received(&mut router, Peer::Agent)),
        ["session/load"]
    );
    assert_eq!(wanted(&mut router), [(2, "/q".into())]);
    finds_none(&mut router, 2);
    let left = received(&mut router, Peer::Agent);
    assert_eq!(methods(&left), ["session/load", "session/prompt"]);
}

#[test]
fn a_session_whose_lookup_is_late_begins_without_the_project_and_the_user_is_notified() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    client(&mut router, &setup(1, "load", Some("s"), "/p\\u001b[31m"));
    client(&mut router, PROMPT);
    wanted(&mut router);
    let due = router.core.clock.now() + PATIENCE;
    assert_eq!(router.next_timer(), Some(due));
    router.advance(due);
    router.pump(1000);
    let left = received(&mut router, Peer::Agent);
    assert_eq!(methods(&left), ["session/load", "session/prompt"]);
    let got = received(&mut router, Peer::Client).concat();
    assert!(got.contains("was not known within 2 s"), "{got}");
    assert!(!got.contains("u001b"), "{got}");

    // The result arrives too late.
    assert!(!router.lacks(1, "/p"));
    router.found(1, Some("/p"));
    router.refuse_session(1, "too late".to_owned());
    begins(&mut router, 1, "s");
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
    assert!(taken(&seen).iter().all(|what| what.starts_with("own: ")));
}

#[test]
fn where_projects_are_required_a_session_whose_lookup_is_late_is_refused() {
    let mut router = loading();
    router.find_projects(true);
    client(&mut router, PROMPT);
    router.advance(router.core.clock.now() + PATIENCE);
    router.pump(1000);
    let answers = received(&mut router, Peer::Client);
    assert!(
        answers[0].contains(r#""id":1,"error""#) && answers[0].contains("was not known within 2 s"),
        "{answers:?}"
    );
    // The messages behind the setup go to the agent, which has no such session.
    assert_eq!(
        methods(&received(&mut router, Peer::Agent)),
        ["session/prompt"]
    );
}

#[test]
fn a_request_that_is_cancelled_while_it_waits_is_answered_once_and_not_sent() {
    let mut router = loading();
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"behind","params":{"sessionId":"s"}}"#,
    );
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#;
    client(&mut router, cancel);
    client(&mut router, cancel);
    let answers = received(&mut router, Peer::Client);
    assert_eq!(answers.len(), 1);
    assert!(
        answers[0].contains(r#""id":1,"error":{"code":-32800"#),
        "{answers:?}"
    );
    assert_eq!(methods(&received(&mut router, Peer::Agent)), ["behind"]);
    finds_none(&mut router, LOAD);
    assert!(received(&mut router, Peer::Agent).is_empty());
    assert_eq!(router.next_timer(), None);
}

#[test]
fn an_id_that_waits_cannot_be_used_again() {
    let mut router = loading();
    client(&mut router, &setup(LOAD, "new", None, "/q"));
    let answers = received(&mut router, Peer::Client);
    assert_eq!(answers.len(), 1);
    assert!(
        answers[0].contains("belongs to a request that is still open"),
        "{answers:?}"
    );
    finds_none(&mut router, LOAD);
    begins(&mut router, LOAD, "s");
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
}

#[test]
fn what_waits_when_the_connection_ends_is_answered_once() {
    let mut router = loading();
    client(&mut router, PROMPT);
    let error = Error::new(code::INTERNAL_ERROR, "it has gone");
    router.lose(Peer::Agent, &error);
    router.answer_all_open(Peer::Client, &error);
    assert_eq!(received(&mut router, Peer::Client).len(), 2);
    finds_none(&mut router, LOAD);
    assert!(received(&mut router, Peer::Client).is_empty());
    assert!(received(&mut router, Peer::Agent).is_empty());
    // An agent that no longer reads gets no request.
    let mut router = loading();
    router.stop_writing(Peer::Agent, &error);
    finds_none(&mut router, LOAD);
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
}

#[test]
fn a_session_of_a_project_that_cannot_begin_its_proxies_does_not_begin() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    opened(&mut router, 1, "s", "/one", &seen);
    client(&mut router, &setup(2, "resume", Some("s"), "/two"));
    wanted(&mut router);
    let why = "the project `two` cannot begin its proxies: `lint` is revoked";
    router.refuse_session(2, why.to_owned());
    router.pump(1000);
    let answers = received(&mut router, Peer::Client);
    assert_eq!(answers.len(), 1);
    assert!(answers[0].contains(why), "{answers:?}");
    assert!(received(&mut router, Peer::Agent).is_empty());
    taken(&seen);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
    );
    assert_eq!(taken(&seen), ["own: m in s", "/one: m in s"]);
}

#[test]
fn nothing_is_looked_up_before_the_connection_has_begun() {
    let seen = SeenMessages::default();
    let mut router = watched(&seen);
    client(&mut router, INITIALIZE);
    client(&mut router, &setup(2, "new", None, "/p"));
    assert!(wanted(&mut router).is_empty());
    assert_eq!(router.next_timer(), None);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#,
    );
    assert_eq!(wanted(&mut router), [(2, "/p".into())]);
    finds(&mut router, 2, "/p", watches("p", &seen));
    assert_eq!(
        methods(&received(&mut router, Peer::Agent)),
        ["initialize", "session/new"]
    );
}
