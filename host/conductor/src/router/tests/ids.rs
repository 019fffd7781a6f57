//! Ids, and the answering of requests.

use super::{PROMPT, Says, agent, client, forwards, heard, say, scripted};
use crate::Proxy;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};

#[test]
fn an_id_is_the_hosts_on_the_far_side_and_comes_back_as_it_went() {
    let mut router = Router::new(vec![forwards("*"), forwards("other")], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0", "id":0,"method":"m","params":{"n":1e400},"x":1}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0", "id":1,"method":"m","params":{"n":1e400},"x":1}"#]
    );
    agent(
        &mut router,
        r#"{"result":{"s":"\u00e9"}, "id":1,"jsonrpc":"2.0"}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"result":{"s":"\u00e9"}, "id":0,"jsonrpc":"2.0"}"#]
    );
    // Answered already: dropped.
    agent(&mut router, r#"{"result":2, "id":1,"jsonrpc":"2.0"}"#);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn an_id_that_is_in_flight_is_refused_and_a_free_one_is_not() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);
    client(&mut router, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);
    let answers = heard(&mut router, Peer::Client);
    assert!(
        answers[0].contains(r#""id":null"#) && answers[0].contains("-32600"),
        "{answers:?}"
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#]
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);
    assert_eq!(heard(&mut router, Peer::Agent).len(), 2);
}

#[test]
fn what_conductors_speak_with_proxies_is_refused_at_the_ends() {
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
        let answers = heard(&mut router, from);
        assert!(
            answers.len() == 1 && answers[0].contains("-32600"),
            "{answers:?}"
        );
        assert!(heard(&mut router, from.opposite()).is_empty());
    }
}

#[test]
fn a_proxy_may_answer_in_the_agents_place() {
    let answers = scripted("answers", "m", |_, _| {
        Says::Decided(Decision::Respond("7".into()))
    });
    let mut router = Router::new(vec![forwards("*"), answers], None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":4,"method":"m"}"#);
    assert!(heard(&mut router, Peer::Agent).is_empty());
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":4,"result":7}"#]
    );
}

#[test]
fn a_proxy_asks_and_settles_what_it_held() {
    let mut held = None;
    let asks = scripted("asks", "session/prompt", move |event, ledger| match event {
        Event::Message(delivery) => {
            ledger
                .request(Peer::Client, "fs/read_text_file", r#"{"path":"/x"}"#)
                .unwrap();
            held = Some(delivery.id);
            Says::Decided(Decision::Hold)
        }
        Event::Answer(delivery) => {
            let body = delivery.message.body().to_owned();
            ledger
                .settle(held.take().unwrap(), Decision::Replace(body))
                .unwrap();
            Says::Told
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
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"path":"/x"}}"#]
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":"c"}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [
            r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"content":"c"}}"#,
        ]
    );
}
