//! Ids, and the answering of requests.

use super::{PROMPT, Reaction, agent, client, forwards, received, say, scripted};
use crate::Proxy;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};

#[test]
fn ids_are_the_hosts_on_the_far_side_and_answers_have_the_original_id() {
    let mut router = Router::new(vec![forwards("*"), forwards("other")], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0", "id":0,"method":"m","params":{"n":1e400},"x":1}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0", "id":1,"method":"m","params":{"n":1e400},"x":1}"#]
    );
    agent(
        &mut router,
        r#"{"result":{"s":"\u00e9"}, "id":1,"jsonrpc":"2.0"}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"result":{"s":"\u00e9"}, "id":0,"jsonrpc":"2.0"}"#]
    );
    // A second answer is dropped.
    agent(&mut router, r#"{"result":2, "id":1,"jsonrpc":"2.0"}"#);
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[test]
fn an_id_that_is_in_flight_is_refused_and_a_free_one_is_not() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#);
    client(&mut router, r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#);
    let answers = received(&mut router, Peer::Client);
    assert!(
        answers[0].contains(r#""id":7"#) && answers[0].contains("-32600"),
        "{answers:?}"
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#]
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#);
    assert_eq!(received(&mut router, Peer::Agent).len(), 2);
}

#[test]
fn requests_with_the_id_null_are_all_passed_on_and_answered() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    for from in [Peer::Client, Peer::Agent] {
        for _ in 0..2 {
            let asked = r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#;
            say(&mut router, from, asked);
        }
        let asked = received(&mut router, from.opposite());
        let numbers: Vec<u64> = (asked.iter())
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|asked| asked["id"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers.len(), 2);
        assert!(router.is_owed(from));
        for number in numbers {
            let answer = format!(
                r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":-32601,"message":"no"}}}}"#
            );
            say(&mut router, from.opposite(), &answer);
            assert_eq!(
                received(&mut router, from),
                [r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#]
            );
        }
        assert!(!router.is_owed(from));
    }
}

#[test]
fn methods_of_conductors_and_proxies_are_refused_at_the_ends() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    for from in [Peer::Client, Peer::Agent] {
        say(
            &mut router,
            from,
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{}}"#,
        );
        say(
            &mut router,
            from,
            r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{}}"#,
        );
        let answers = received(&mut router, from);
        assert!(
            answers.len() == 1 && answers[0].contains("-32600"),
            "{answers:?}"
        );
        assert!(received(&mut router, from.opposite()).is_empty());
    }
}

#[test]
fn a_proxy_may_answer_in_the_agents_place() {
    let answers = scripted("answers", "m", |_, _| {
        Reaction::Decided(Decision::Respond("7".into()))
    });
    let mut router = Router::new(vec![forwards("*"), answers], None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":4,"method":"m"}"#);
    assert!(received(&mut router, Peer::Agent).is_empty());
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":4,"result":7}"#]
    );
}

#[test]
fn a_proxy_sends_a_request_and_settles_a_held_message_with_the_answer() {
    let mut held = None;
    let asks = scripted("asks", "session/prompt", move |event, ledger| match event {
        Event::Message(delivery) => {
            ledger
                .request(Peer::Client, "fs/read_text_file", r#"{"path":"/x"}"#)
                .unwrap();
            held = Some(delivery.id);
            Reaction::Decided(Decision::Hold)
        }
        Event::Answer(delivery) => {
            let body = delivery.message.body().to_owned();
            ledger
                .settle(held.take().unwrap(), Decision::Replace(body))
                .unwrap();
            Reaction::Told
        }
        Event::Cancel(_) | Event::List(..) | Event::Call(_) => panic!("{event:?}"),
    });
    let mut router = Router::new(vec![forwards("*"), asks, forwards("*")], None);
    client(&mut router, PROMPT);
    // Overtaking a held request is intended: stopping its turn must never wait.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"path":"/x"}}"#]
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":"c"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [
            r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"content":"c"}}"#,
        ]
    );
}
