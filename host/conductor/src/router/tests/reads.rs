//! A client that says that it reads files, and never answers.

use std::time::Duration;

use super::super::reads::TIME;
use super::{PROMPT, Says, agent, client, heard, scripted};
use crate::Proxy;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_rpc::Kind;

/// Reads a file for each prompt, which it holds meanwhile, and puts in whether there was one.
fn reads() -> Proxy {
    let mut held = None;
    scripted(
        "reads",
        "session/prompt",
        move |event, ledger| match event {
            Event::Message(delivery) if delivery.message.kind() != Kind::Request => {
                Says::Decided(Decision::Forward)
            }
            Event::Message(delivery) => {
                let params = r#"{"sessionId":"s","path":"/x"}"#;
                let asked = ledger.request(Peer::Client, "fs/read_text_file", params);
                asked.unwrap();
                held = Some(delivery.id);
                Says::Decided(Decision::Hold)
            }
            Event::Answer(delivery) => {
                let body = match delivery.message.kind() {
                    Kind::Error => r#"{"sessionId":"s","file":false}"#,
                    _ => r#"{"sessionId":"s","file":true}"#,
                };
                let body = Decision::Replace(body.to_owned());
                ledger.settle(held.take().unwrap(), body).unwrap();
                Says::Told
            }
            Event::Cancel(_) | Event::List(..) | Event::Call(_) => panic!("{event:?}"),
        },
    )
}

/// The one line for an end.
fn one(router: &mut Router, peer: Peer) -> String {
    let mut lines = heard(router, peer);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[test]
fn a_proxy_goes_on_without_a_file_that_the_client_does_not_give() {
    let mut router = Router::new(vec![reads()], None);
    client(&mut router, PROMPT);
    assert!(one(&mut router, Peer::Client).contains("fs/read_text_file"));
    let at = router.next_timer().expect("the client's time runs");
    router.advance(at);
    router.pump(1000);
    assert!(one(&mut router, Peer::Agent).contains(r#""file":false"#));
    let [withdrawn, told] = &heard(&mut router, Peer::Client)[..] else {
        panic!("a cancellation and a notice");
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#;
    assert_eq!(withdrawn, cancel);
    assert!(told.contains("did not answer within 10 s"), "{told}");

    // Its answer comes too late, and it is not asked again in this session.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":"c"}}"#,
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(one(&mut router, Peer::Client).contains(r#""id":"p""#));
    client(&mut router, PROMPT);
    assert!(one(&mut router, Peer::Agent).contains(r#""file":false"#));
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn the_user_is_told_once_though_the_reads_are_in_no_session() {
    let reads = scripted("reads", "m", |event, ledger| match event {
        Event::Message(_) => {
            let asked = ledger.request(Peer::Client, "fs/read_text_file", r#"{"path":"/x"}"#);
            asked.unwrap();
            Says::Decided(Decision::Forward)
        }
        _ => Says::Told,
    });
    let mut router = Router::new(vec![reads], None);
    client(&mut router, PROMPT);
    let mut told = 0;
    for _ in 0..3 {
        client(&mut router, r#"{"jsonrpc":"2.0","method":"m"}"#);
        router.advance(router.next_timer().expect("the client's time runs"));
        router.pump(1000);
        let lines = heard(&mut router, Peer::Client);
        told += lines
            .iter()
            .filter(|line| line.contains("did not answer within 10 s"))
            .count();
    }
    assert_eq!(told, 1);
}

#[test]
fn a_client_that_answers_in_time_is_left_alone() {
    let mut router = Router::new(vec![reads()], None);
    client(&mut router, PROMPT);
    let read = one(&mut router, Peer::Client);
    let first = router.next_timer().expect("the client's time runs");
    let id = read
        .split(r#""id":"#)
        .nth(1)
        .and_then(|rest| rest.split(',').next());
    let id = id.expect("an id");
    client(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"c"}}}}"#),
    );
    assert!(one(&mut router, Peer::Agent).contains(r#""file":true"#));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    heard(&mut router, Peer::Client);

    // A later file has its own time.
    router.advance(first - Duration::from_secs(1));
    client(&mut router, PROMPT);
    heard(&mut router, Peer::Client);
    router.advance(first);
    router.pump(1000);
    assert!(heard(&mut router, Peer::Client).is_empty());
    let second = router.next_timer().expect("the client's time runs");
    assert_eq!(second, first + TIME);
    router.advance(second);
    router.pump(1000);
    assert!(one(&mut router, Peer::Agent).contains(r#""file":false"#));
    assert_eq!(router.next_timer(), None);
}
