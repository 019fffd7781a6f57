//! A client that declares that it reads files, and never answers.

use std::time::Duration;

use super::super::reads::TIME;
use super::{PROMPT, Reaction, agent, client, received, scripted};
use crate::Proxy;
use crate::reading::FilePlace;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_rpc::Kind;

/// A proxy that reads a file for each prompt, holds the prompt meanwhile, and puts into it whether the file was read.
fn reads() -> Proxy {
    let mut held = None;
    scripted(
        "reads",
        "session/prompt",
        move |event, ledger| match event {
            Event::Message(delivery) if delivery.message.kind() != Kind::Request => {
                Reaction::Decided(Decision::Forward)
            }
            Event::Message(delivery) => {
                let params = r#"{"sessionId":"s","path":"/x"}"#;
                let asked = ledger.request(Peer::Client, "fs/read_text_file", params);
                asked.unwrap();
                held = Some(delivery.id);
                Reaction::Decided(Decision::Hold)
            }
            Event::Answer(delivery) => {
                let body = match delivery.message.kind() {
                    Kind::Error => r#"{"sessionId":"s","file":false}"#,
                    _ => r#"{"sessionId":"s","file":true}"#,
                };
                let body = Decision::Replace(body.to_owned());
                ledger.settle(held.take().unwrap(), body).unwrap();
                Reaction::Told
            }
            Event::Cancel(_) | Event::List(..) | Event::Call(_) => panic!("{event:?}"),
        },
    )
}

/// The one line for an end.
fn one(router: &mut Router, peer: Peer) -> String {
    let mut lines = received(router, peer);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[test]
fn a_file_to_which_a_link_leads_out_of_the_project_is_not_read() {
    let outside = FilePlace::Outside("/home/ann/key".into());
    for (place, told) in [
        (FilePlace::Within, None),
        (outside, Some("a link leads out of the project there")),
        (FilePlace::Unknown("it hangs".to_owned()), None),
    ] {
        let is_within = place == FilePlace::Within;
        let mut router = Router::new(vec![reads()], None);
        router.check_reads();
        client(&mut router, PROMPT);
        assert!(received(&mut router, Peer::Client).is_empty());
        let read = router.take_reads().remove(0);
        assert_eq!((&*read.path, read.folder), ("/x", None));
        router.located(read.number, place);
        router.pump(1000);
        let lines = received(&mut router, Peer::Client).concat();
        assert_eq!(lines.contains("fs/read_text_file"), is_within, "{lines}");
        let of_agent = received(&mut router, Peer::Agent).concat();
        assert_eq!(of_agent.contains(r#""file":false"#), !is_within);
        if let Some(told) = told {
            assert!(lines.contains(told) && lines.contains("`reads`"), "{lines}");
        }
        assert!(router.take_reads().is_empty());
    }
}

#[test]
fn a_proxy_continues_without_a_file_if_the_client_does_not_answer() {
    let mut router = Router::new(vec![reads()], None);
    client(&mut router, PROMPT);
    assert!(one(&mut router, Peer::Client).contains("fs/read_text_file"));
    let at = router.next_timer().expect("a timer runs");
    router.advance(at);
    router.pump(1000);
    assert!(one(&mut router, Peer::Agent).contains(r#""file":false"#));
    let [withdrawn, notice] = &received(&mut router, Peer::Client)[..] else {
        panic!("a cancellation and a notice");
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#;
    assert_eq!(withdrawn, cancel);
    assert!(notice.contains("did not answer within 10 s"), "{notice}");

    // The client's answer arrives too late, and it gets no further reads in this session.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":"c"}}"#,
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(one(&mut router, Peer::Client).contains(r#""id":"p""#));
    client(&mut router, PROMPT);
    assert!(one(&mut router, Peer::Agent).contains(r#""file":false"#));
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[test]
fn the_user_is_notified_once_of_reads_without_a_session() {
    let reads = scripted("reads", "m", |event, ledger| match event {
        Event::Message(_) => {
            let asked = ledger.request(Peer::Client, "fs/read_text_file", r#"{"path":"/x"}"#);
            asked.unwrap();
            Reaction::Decided(Decision::Forward)
        }
        _ => Reaction::Told,
    });
    let mut router = Router::new(vec![reads], None);
    client(&mut router, PROMPT);
    let mut count = 0;
    for _ in 0..3 {
        client(&mut router, r#"{"jsonrpc":"2.0","method":"m"}"#);
        router.advance(router.next_timer().expect("a timer runs"));
        router.pump(1000);
        let lines = received(&mut router, Peer::Client);
        count += lines
            .iter()
            .filter(|line| line.contains("did not answer within 10 s"))
            .count();
    }
    assert_eq!(count, 1);
}

#[test]
fn a_client_that_answers_in_time_is_left_alone() {
    let mut router = Router::new(vec![reads()], None);
    client(&mut router, PROMPT);
    let read = one(&mut router, Peer::Client);
    let first = router.next_timer().expect("a timer runs");
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
    received(&mut router, Peer::Client);

    // A later read has its own timer.
    router.advance(first - Duration::from_secs(1));
    client(&mut router, PROMPT);
    received(&mut router, Peer::Client);
    router.advance(first);
    router.pump(1000);
    assert!(received(&mut router, Peer::Client).is_empty());
    let second = router.next_timer().expect("a timer runs");
    assert_eq!(second, first + TIME);
    router.advance(second);
    router.pump(1000);
    assert!(one(&mut router, Peer::Agent).contains(r#""file":false"#));
    assert_eq!(router.next_timer(), None);
}
