use super::streams::UNKNOWN;
use super::*;
use crate::server::mailbox::NoStream;

fn routes() -> Routes {
    with_permits(100)
}

fn with_permits(permits: usize) -> Routes {
    let account = Arc::new(crate::server::account::tests::account(permits));
    let log = LogContext {
        access: None,
        figures: Arc::default(),
        connection: None,
        user: Arc::default(),
        way: super::super::metrics::TransportKind::Http,
        peer: ([127, 0, 0, 1], 9).into(),
    };
    Routes::new(false, account, Arc::new(log))
}

fn message(text: &str) -> Message {
    Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

fn request(routes: &mut Routes, id: u64, method: &str, session: Option<&str>) {
    let params = match session {
        Some(session) => format!(r#"{{"sessionId":"{session}"}}"#),
        None => "{}".to_owned(),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    assert_eq!(routes.note(&message(&text)), DeliveryResult::Passed);
}

fn answer(routes: &mut Routes, id: u64, result: &str) {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    routes.push(text.into());
}

fn update(routes: &mut Routes, session: &str) {
    let text = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}"}}}}"#
    );
    routes.push(text.into());
}

fn take_all(routes: &mut Routes, session: Option<&str>) -> usize {
    let mailbox = routes.streams.mailbox(session).expect("it is known");
    std::iter::from_fn(|| mailbox.take()).count()
}

#[test]
fn messages_of_a_session_go_to_its_stream_and_others_to_the_connections() {
    let mut routes = routes();
    routes.streams.open(None, None).unwrap();
    request(&mut routes, 1, "session/new", None);
    answer(&mut routes, 1, r#"{"sessionId":"a"}"#);
    assert_eq!(
        (
            take_all(&mut routes, None),
            take_all(&mut routes, Some("a"))
        ),
        (1, 0)
    );
    request(&mut routes, 2, "session/prompt", Some("a"));
    assert!(!routes.is_idle());
    update(&mut routes, "a");
    answer(&mut routes, 2, "{}");
    routes.push(r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}"#.into());
    assert_eq!(
        (
            take_all(&mut routes, None),
            take_all(&mut routes, Some("a"))
        ),
        (1, 2)
    );
    assert!(routes.is_idle());
}

#[test]
fn a_session_that_was_not_set_up_has_no_stream_until_one_is_opened() {
    let mut routes = routes();
    routes.streams.open(None, None).unwrap();
    update(&mut routes, "child");
    assert_eq!(take_all(&mut routes, None), 1);
    assert!(routes.streams.mailbox(Some("child")).is_none());
    routes.streams.open(Some("child"), None).unwrap();
    update(&mut routes, "child");
    assert_eq!(take_all(&mut routes, Some("child")), 1);
}

#[test]
fn early_messages_of_a_session_that_no_answer_names_go_to_the_connections_stream() {
    let mut routes = routes();
    routes.streams.open(None, None).unwrap();
    request(&mut routes, 1, "session/new", None);
    update(&mut routes, "child");
    update(&mut routes, "a");
    answer(&mut routes, 1, r#"{"sessionId":"a"}"#);
    assert_eq!(take_all(&mut routes, None), 2);
    assert!(routes.streams.mailbox(Some("child")).is_none());
    request(&mut routes, 2, "session/prompt", Some("child"));
    answer(&mut routes, 2, "{}");
    update(&mut routes, "child");
    assert_eq!(take_all(&mut routes, None), 2);
    assert_eq!(take_all(&mut routes, Some("a")), 1);
}

#[test]
fn a_request_and_its_cancellation_go_to_one_stream() {
    let mut routes = routes();
    routes.streams.open(Some("a"), None).unwrap();
    let request = |id: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{"sessionId":"a"}}}}"#
        )
    };
    let cancel = |id: u64| {
        format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
    };
    routes.push(request(1).into());
    routes.push(request(2).into());
    routes.push(cancel(1).into());
    assert_eq!(take_all(&mut routes, Some("a")), 3);
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    assert_eq!(routes.note(&message(answer)), DeliveryResult::Passed);
    routes.push(cancel(2).into());
    assert_eq!(take_all(&mut routes, None), 1);
}

#[test]
fn a_session_is_loaded_on_its_stream_if_that_is_read_and_else_on_the_connections() {
    for is_read in [true, false] {
        let mut routes = routes();
        routes.streams.open(None, None).unwrap();
        if is_read {
            routes.streams.open(Some("a"), None).unwrap();
        }
        request(&mut routes, 1, "session/load", Some("a"));
        update(&mut routes, "a");
        if !is_read {
            // The client now reads the session's stream; the order is still kept.
            routes.streams.open(Some("a"), None).unwrap();
        }
        update(&mut routes, "a");
        answer(&mut routes, 1, "{}");
        update(&mut routes, "a");
        let expected = if is_read { (0, 4) } else { (3, 1) };
        let found = (
            take_all(&mut routes, None),
            take_all(&mut routes, Some("a")),
        );
        assert_eq!(found, expected);
    }
}

#[test]
fn streams_that_only_the_client_names_are_bounded() {
    let mut routes = routes();
    let readers: Vec<_> = (0..UNKNOWN)
        .map(|name| routes.streams.open(Some(&name.to_string()), None).unwrap())
        .collect();
    assert_eq!(
        routes.streams.open(Some("more"), None),
        Err(NoStream::Unknown)
    );
    routes.streams.leave(Some("0"), readers[0]);
    routes.streams.open(Some("more"), None).unwrap();
    for id in 0..REQUESTS as u64 {
        request(&mut routes, id, "session/list", None);
    }
    let one_more = r#"{"jsonrpc":"2.0","id":"more","method":"session/list"}"#;
    assert_eq!(routes.note(&message(one_more)), DeliveryResult::TooMany);
}

#[test]
fn totals_count_the_bytes_of_all_streams() {
    let mut routes = routes();
    let reader = routes.streams.open(Some("a"), None).unwrap();
    request(&mut routes, 1, "session/new", None);
    update(&mut routes, "a");
    update(&mut routes, "b");
    let each: usize = routes
        .streams
        .mailboxes()
        .map(|mailbox| mailbox.waiting())
        .max()
        .unwrap();
    assert_eq!(routes.streams.waiting(), 2 * each);
    assert!(!routes.streams.is_flushed());
    assert_eq!(take_all(&mut routes, Some("a")), 1);
    assert_eq!(
        (routes.streams.waiting(), routes.streams.totals.kept.get()),
        (each, each)
    );
    // The other stream has no reader.
    assert!(routes.streams.is_flushed());
    routes.streams.sessions.remove("b");
    routes.streams.mailbox(Some("a")).unwrap().leave(reader);
    routes
        .streams
        .trim(Instant::now() + Duration::from_secs(1), Duration::ZERO);
    assert_eq!(
        (routes.streams.waiting(), routes.streams.totals.kept.get()),
        (0, 0)
    );
}

#[test]
fn an_open_request_is_not_forgotten_for_another_with_its_id() {
    let mut routes = with_permits(1);
    routes.streams.open(None, None).unwrap();
    request(&mut routes, 1, "session/new", None);
    let again = message(r#"{"jsonrpc":"2.0","id":1,"method":"session/list"}"#);
    assert_eq!(routes.note(&again), DeliveryResult::Answered);
    assert_eq!(take_all(&mut routes, None), 1);
    let opened = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}"#;
    assert_eq!(routes.push(opened.into()).as_deref(), Some("a"));
    assert_eq!(routes.gauges().sessions, 1);
}

#[test]
fn the_stream_of_a_closed_session_waits_for_a_reader_only_for_a_while() {
    let mut routes = routes();
    let reader = routes.streams.open(Some("a"), None).unwrap();
    update(&mut routes, "a");
    request(&mut routes, 1, "session/close", Some("a"));
    routes.streams.leave(Some("a"), reader);
    answer(&mut routes, 1, "{}");
    let soon = Instant::now();
    routes.streams.trim(soon, Duration::from_secs(1));
    assert_ne!(routes.streams.waiting(), 0);
    routes
        .streams
        .trim(soon + Duration::from_secs(2), Duration::from_secs(1));
    assert_eq!(routes.streams.waiting(), 0);
    assert!(routes.streams.mailbox(Some("a")).is_none());
}

#[test]
fn the_first_answer_is_returned_directly() {
    let mut routes = routes();
    request(&mut routes, 1, "initialize", None);
    let mut answered = routes.answer_at_once(Id::from(1));
    routes.push(r#"{"jsonrpc":"2.0","method":"early"}"#.into());
    answer(&mut routes, 1, "{}");
    assert_eq!(answered.try_recv().unwrap().body(), "{}");
    assert_eq!(take_all(&mut routes, None), 1);
}

#[test]
fn sessions_beyond_the_limit_are_rejected_and_closed_ones_make_room() {
    let mut routes = with_permits(2);
    routes.streams.open(None, None).unwrap();
    request(&mut routes, 1, "session/new", None);
    answer(&mut routes, 1, r#"{"sessionId":"a"}"#);
    // A failed request has opened nothing.
    request(&mut routes, 2, "session/load", Some("b"));
    routes.push(r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}"#.into());
    request(&mut routes, 3, "session/load", Some("b"));
    let one_more = r#"{"jsonrpc":"2.0","id":4,"method":"session/new","params":{}}"#;
    assert_eq!(routes.note(&message(one_more)), DeliveryResult::Answered);
    answer(&mut routes, 3, "{}");
    assert_eq!(routes.note(&message(one_more)), DeliveryResult::Answered);
    // An open session can be loaded again.
    request(&mut routes, 5, "session/load", Some("a"));
    answer(&mut routes, 5, "{}");
    assert_eq!(routes.gauges().sessions, 2);
    request(&mut routes, 6, "session/close", Some("b"));
    answer(&mut routes, 6, "{}");
    assert_eq!(routes.note(&message(one_more)), DeliveryResult::Passed);
    assert_eq!(routes.gauges().sessions, 1);
    routes.end();
    assert!(
        routes.requests.account.permit().is_some() && routes.requests.account.permit().is_some()
    );
}

#[test]
fn a_turn_that_ends_makes_room_for_the_next() {
    let account = Arc::new(crate::server::account::tests::with_turns(1));
    let log = with_permits(1).log;
    let mut routes = Routes::new(false, account, log);
    routes.streams.open(None, None).unwrap();
    request(&mut routes, 1, "session/prompt", Some("a"));
    let prompt = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"a"}}"#;
    let refused = routes.note(&message(prompt));
    assert!(
        matches!(refused, DeliveryResult::Denied(Denial::Busy(_))),
        "{refused:?}"
    );
    answer(&mut routes, 1, "{}");
    assert_eq!(routes.note(&message(prompt)), DeliveryResult::Passed);
}

#[test]
fn what_has_ended_is_told_once() {
    let mut routes = routes();
    request(&mut routes, 1, "session/new", None);
    let opened = Bytes::from(r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}"#);
    assert_eq!(
        routes.requests.opened_by(&opened),
        Some((Id::from(1), "a".into()))
    );
    routes.push(opened.clone());
    assert_eq!(routes.requests.opened_by(&opened), None);
    request(&mut routes, 2, "session/prompt", Some("a"));
    answer(&mut routes, 2, "{}");
    request(&mut routes, 3, "session/load", Some("b"));
    routes.push(r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}"#.into());
    request(&mut routes, 4, "session/close", Some("a"));
    answer(&mut routes, 4, "{}");
    let ended = EndedParts {
        sessions: vec!["b".into(), "a".into()],
        prompts: vec![Id::from(2)],
    };
    assert_eq!(routes.requests.take_ended(), ended);
    assert!(routes.requests.take_ended().is_empty());
}

#[test]
fn in_version_2_a_turn_runs_until_the_agent_is_idle() {
    let mut routes = routes();
    request(&mut routes, 1, "initialize", None);
    answer(&mut routes, 1, r#"{"protocolVersion":2}"#);
    let send_state = |routes: &mut Routes, state: &str| {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"a","update":{{"sessionUpdate":"state_update",{state}}}}}}}"#
        );
        routes.push(text.into());
    };
    request(&mut routes, 2, "session/prompt", Some("a"));
    answer(&mut routes, 2, r#"{"messageId":"m"}"#);
    assert!(!routes.is_idle());
    for state in ["running", "requires_action"] {
        send_state(&mut routes, &format!(r#""state":"{state}""#));
        assert!(!routes.is_idle());
        assert_eq!(routes.gauges().turns, 1);
    }
    send_state(&mut routes, r#""state":"idle","stopReason":"end_turn""#);
    assert!(routes.is_idle());
    let mut page = super::super::metrics::Page::default();
    routes.log.figures.write(&mut page);
    let ended = page.into_text();
    let line = "acp_chain_turns_total{end=\"end_turn\"} 1\n";
    assert!(ended.contains(line), "{ended}");
}

#[test]
fn each_turn_is_counted_once_however_it_ends() {
    let mut routes = routes();
    for (id, reason) in [(1, "end_turn"), (2, "cancelled"), (3, "x")] {
        request(&mut routes, id, "session/prompt", Some("a"));
        assert_eq!(routes.gauges().turns, 1);
        answer(&mut routes, id, &format!(r#"{{"stopReason":"{reason}"}}"#));
    }
    request(&mut routes, 4, "session/prompt", Some("a"));
    routes.push(r#"{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"no"}}"#.into());
    request(&mut routes, 5, "session/prompt", Some("a"));
    routes.end();
    let mut page = super::super::metrics::Page::default();
    routes.log.figures.write(&mut page);
    let text = page.into_text();
    for end in ["end_turn", "cancelled", "other", "error", "lost"] {
        let line = format!("acp_chain_turns_total{{end=\"{end}\"}} 1\n");
        assert!(text.contains(&line), "{line}{text}");
    }
}
